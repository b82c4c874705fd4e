//! What can be read in source without running it.

use oxc_allocator::Allocator;

use crate::{
    abi::{Description, Fault, Language, PassedParameter, Source},
    engine,
    signature::Signature,
    source::{
        parse::parse,
        program::{Aim, Program},
    },
};

/// Describes the function that is the tool; a fault where the source can't be run at all.
pub fn describe(source: &Source) -> Result<Description, Fault> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source)?;
    let signature = Signature::read(&parsed, source.function.as_deref())?;
    let program = Program::new(&parsed, &Aim::Function(&signature.name))?;
    engine::check(&program)?;

    let parameters = signature
        .parameters
        .iter()
        .map(|parameter| PassedParameter {
            name: parameter.field.name.clone(),
            required: !parameter.field.optional,
        });
    let description = match signature.description.as_str() {
        "" => format!("{} function {}", language_name(source), signature.name),
        description => description.to_owned(),
    };
    Ok(Description {
        schema: match signature.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(signature.schema().to_string()),
        },
        parameters: parameters.collect(),
        open: signature.rest.is_some(),
        name: signature.name,
        description,
    })
}

fn language_name(source: &Source) -> &'static str {
    match source.language {
        Language::Typescript => "TypeScript",
        Language::Javascript | Language::Python => "JavaScript",
    }
}
