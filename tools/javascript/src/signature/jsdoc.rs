//! The types of documentation comments. Most are spelled as TypeScript spells them; what is not
//! is put into its words first.

use oxc_allocator::Allocator;
use oxc_ast::ast::Statement;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::{
    shape::Shape,
    types::{Typed, Types},
};

/// Reads the text between the braces of a tag.
pub(super) fn read(kind: &str, types: &Types<'_>) -> Result<Typed, String> {
    let mut kind = kind.trim();
    let mut undefined = false;
    let mut nullable = false;
    if let Some(inner) = kind.strip_suffix('=') {
        (kind, undefined) = (inner, true);
    }
    kind = kind.strip_prefix("...").unwrap_or(kind);
    kind = kind.strip_prefix('!').unwrap_or(kind);
    if let Some(inner) = kind.strip_prefix('?') {
        (kind, nullable) = (inner, true);
    }
    let read = match kind.trim() {
        "" | "*" => Typed {
            shape: Shape::Any,
            undefined: false,
        },
        other => read_type(&in_typescript(other), types)?,
    };
    let shape = match nullable {
        true => Shape::union([read.shape, Shape::Null]),
        false => read.shape,
    };
    Ok(Typed {
        shape,
        undefined: undefined || read.undefined,
    })
}

/// `Object.<string, number>` and `Array.<string>`.
fn in_typescript(kind: &str) -> String {
    kind.replace(".<", "<").replace("Object<", "Record<")
}

fn read_type(kind: &str, types: &Types<'_>) -> Result<Typed, String> {
    let text = format!("type T = {kind};");
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &text, SourceType::ts()).parse();
    match parsed.program.body.first() {
        Some(Statement::TSTypeAliasDeclaration(it)) if !parsed.diagnostics.has_errors() => {
            types.read_in(&it.type_annotation, &text)
        }
        _ => Err(format!(
            "the type `{{{kind}}}` of its comment can't be read"
        )),
    }
}
