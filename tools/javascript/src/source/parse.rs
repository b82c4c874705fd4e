//! Text to a tree.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;

use super::text::place;
use crate::abi::{Fault, Language, Source};

/// A tool is some hundred lines; more than this is a bundle, which takes longer to parse than a
/// call may take.
const MAX_SOURCE_BYTES: usize = 1 << 20;
/// Brackets within brackets. Parsers recurse for each, and the stack ends somewhere.
const MAX_NESTING: usize = 150;

/// Source that is syntactically right.
pub(crate) struct Parsed<'a> {
    pub(crate) text: &'a str,
    pub(crate) program: Program<'a>,
    /// Whether it imports or exports.
    pub(crate) module: bool,
}

/// Parses a source.
pub(crate) fn parse<'a>(allocator: &'a Allocator, source: &'a Source) -> Result<Parsed<'a>, Fault> {
    let text = source.text.as_str();
    check_size(text)?;
    let module = match source.language {
        Language::Javascript => SourceType::mjs(),
        Language::Typescript => SourceType::ts(),
        Language::Python => {
            return Err(fault(
                "this runtime runs JavaScript and TypeScript, not Python",
                None,
            ));
        }
    };
    let as_module = parse_as(allocator, text, module);
    let parsed = if as_module.diagnostics.has_errors() && !as_module.module_record.has_module_syntax
    {
        // What is no module may be sloppy.
        let as_script = parse_as(allocator, text, module.with_script(true));
        if as_script.diagnostics.has_errors() {
            as_module
        } else {
            as_script
        }
    } else {
        as_module
    };
    match parsed.diagnostics.errors().next() {
        None => Ok(Parsed {
            text,
            program: parsed.program,
            module: parsed.module_record.has_module_syntax,
        }),
        Some(error) => {
            let at = error
                .labels
                .first()
                .map(|label| place(text, label.offset()));
            Err(syntax_fault(&error.message, at.map(|at| at.line)))
        }
    }
}

/// What is said of source that can't be parsed.
pub(crate) fn syntax_fault(message: &str, line: Option<u32>) -> Fault {
    match line {
        Some(line) => fault(
            &format!("Syntax error in line {line}: {message}"),
            Some(line),
        ),
        None => fault(&format!("Syntax error: {message}"), None),
    }
}

fn parse_as<'a>(allocator: &'a Allocator, text: &'a str, kind: SourceType) -> ParserReturn<'a> {
    let options = ParseOptions {
        enable_ident_hashes: false,
        ..ParseOptions::default()
    };
    Parser::new(allocator, text, kind)
        .with_options(options)
        .parse()
}

fn check_size(text: &str) -> Result<(), Fault> {
    if text.len() > MAX_SOURCE_BYTES {
        let message = format!(
            "the source has {} bytes; at most {MAX_SOURCE_BYTES} are accepted",
            text.len()
        );
        return Err(fault(&message, None));
    }
    let mut depth = 0_usize;
    for (line, content) in text.lines().enumerate() {
        for byte in content.bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_NESTING {
                let line = u32::try_from(line + 1).ok();
                let message =
                    format!("brackets are nested more than {MAX_NESTING} deep; write it in steps");
                return Err(fault(&message, line));
            }
        }
    }
    Ok(())
}

fn fault(message: &str, line: Option<u32>) -> Fault {
    Fault {
        message: message.to_owned(),
        line,
        parameter: None,
    }
}
