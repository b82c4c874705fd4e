//! A call of a tool's function.

use std::{mem, rc::Rc};

use boa_engine::{JsResult, JsValue};
use oxc_allocator::Allocator;

use crate::{
    abi::{Environment, Execution, Fault, Language, Source},
    arguments::arguments,
    engine::{self, Engine},
    host::Host,
    outcome::{failed, faulty, returned, unfit},
    signature::Signature,
    source::{
        parse::parse,
        program::{Aim, Kind, Program},
    },
};

/// Calls the function that is the tool. `order` names the arguments in the order of the tool's
/// schema, for functions whose parameters have other names.
pub fn call(
    source: &Source,
    input: &str,
    order: &[String],
    environment: &Environment,
    host: Rc<dyn Host>,
) -> Execution {
    let (signature, program) = match read(source) {
        Ok(read) => read,
        Err(fault) => return faulty(fault),
    };
    with_engine(source.language, environment, host, |engine| {
        // Before the source runs, which could change what reads the arguments.
        let arguments = match arguments(&signature, input, order, engine) {
            Ok(arguments) => arguments,
            Err(problems) => return unfit(problems),
        };
        match value(engine, &program, &signature, &arguments) {
            Ok(value) => returned(&value, false, source, engine),
            Err(error) => failed(error, source, engine),
        }
    })
}

fn read(source: &Source) -> Result<(Signature, Program), Fault> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source)?;
    let signature = Signature::read(&parsed, source.function.as_deref())?;
    let program = Program::new(&parsed, &Aim::Function(&signature.name))?;
    Ok((signature, program))
}

fn value(
    engine: &mut Engine,
    program: &Program,
    signature: &Signature,
    arguments: &[JsValue],
) -> JsResult<JsValue> {
    let evaluated = engine.evaluate(program)?;
    let function = match program.kind {
        Kind::Module { .. } => evaluated,
        Kind::Script => engine.global(&signature.name)?,
    };
    let value = engine::call(&function, arguments, &mut engine.context)?;
    let value = engine.awaited(value)?;
    // What was begun and not awaited gets as far as it can without waiting.
    engine.run_promises()?;
    Ok(value)
}

/// Runs `act` with a fresh engine.
pub(crate) fn with_engine(
    language: Language,
    environment: &Environment,
    host: Rc<dyn Host>,
    act: impl FnOnce(&mut Engine) -> Execution,
) -> Execution {
    match Engine::new(language, environment, host) {
        Ok(mut engine) => {
            let execution = act(&mut engine);
            // The instance ends with the call: taking the engine apart would only cost time.
            if cfg!(target_family = "wasm") {
                mem::forget(engine);
            }
            execution
        }
        Err(error) => faulty(Fault {
            message: format!("the engine did not start: {error}"),
            line: None,
            parameter: None,
        }),
    }
}
