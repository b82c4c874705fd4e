//! Enums as JavaScript: an object with names to values, and values of numbers to names.

use std::fmt::Write;

use oxc_ast::ast::{Expression, TSEnumDeclaration, TSEnumMemberName, UnaryOperator};
use oxc_span::{GetSpan, Span};

use super::edits::Edits;

/// Names that can stand in an enum and can't be declared.
const RESERVED: [&str; 48] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
];

/// What an enum's code is made of.
pub(super) struct Enum {
    pub(super) span: Span,
    name: String,
    members: Vec<Member>,
}

struct Member {
    name: String,
    value: Value,
}

enum Value {
    /// One more than the member before it.
    Next,
    Number(f64),
    Text(String),
    /// An expression at this place of the source.
    Computed(Span),
}

impl Enum {
    pub(super) fn new(declaration: &TSEnumDeclaration<'_>) -> Self {
        let members = declaration.body.members.iter().map(|member| Member {
            name: member_name(&member.id),
            value: member.initializer.as_ref().map_or(Value::Next, value),
        });
        Self {
            span: declaration.span,
            name: declaration.id.name.to_string(),
            members: members.collect(),
        }
    }

    /// One line of JavaScript, with the changes of `edits` made in its expressions.
    pub(super) fn code(&self, source: &str, edits: &Edits) -> String {
        let name = &self.name;
        let mut body = String::new();
        // What the next member without a value gets.
        let mut next = "0".to_owned();
        // An expression may name members by themselves.
        let declares = self
            .members
            .iter()
            .any(|member| matches!(member.value, Value::Computed(_)));
        for member in &self.members {
            let key = quoted(&member.name);
            let value = match &member.value {
                Value::Next => next.clone(),
                Value::Number(number) => number.to_string(),
                Value::Text(text) => quoted(text),
                Value::Computed(span) => {
                    let code = edits.render(source, span.start as usize, span.end as usize);
                    format!("({})", code.replace('\n', " "))
                }
            };
            next = match &member.value {
                Value::Number(number) => (number + 1.0).to_string(),
                _ => format!("{name}[{key}] + 1"),
            };
            // Writing to a String does not fail.
            let _ = write!(body, "{name}[{key}] = {value}; ");
            if !matches!(member.value, Value::Text(_)) {
                let _ = write!(
                    body,
                    "if (typeof {name}[{key}] === 'number') {name}[{name}[{key}]] = {key}; "
                );
            }
            if declares && can_be_declared(&member.name) && member.name != *name {
                let _ = write!(body, "const {} = {name}[{key}]; ", member.name);
            }
        }
        format!("var {name}; (function ({name}) {{ {body}}})({name} || ({name} = {{}}));")
    }
}

pub(crate) fn member_name(name: &TSEnumMemberName<'_>) -> String {
    match name {
        TSEnumMemberName::Identifier(it) => it.name.to_string(),
        TSEnumMemberName::String(it) | TSEnumMemberName::ComputedString(it) => it.value.to_string(),
        TSEnumMemberName::ComputedTemplateString(it) => it
            .quasis
            .iter()
            .filter_map(|quasi| quasi.value.cooked.as_ref())
            .map(|text| text.as_str())
            .collect(),
    }
}

fn value(expression: &Expression<'_>) -> Value {
    match expression {
        Expression::NumericLiteral(it) => Value::Number(it.value),
        Expression::StringLiteral(it) => Value::Text(it.value.to_string()),
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::UnaryNegation => {
            match &it.argument {
                Expression::NumericLiteral(number) => Value::Number(-number.value),
                _ => Value::Computed(it.span),
            }
        }
        other => Value::Computed(other.span()),
    }
}

fn can_be_declared(name: &str) -> bool {
    let mut characters = name.chars();
    let begins = |character: char| character.is_alphabetic() || "_$".contains(character);
    characters.next().is_some_and(begins)
        && characters.all(|character| begins(character) || character.is_numeric())
        && !RESERVED.contains(&name)
}

/// A string literal; JSON's are JavaScript's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
