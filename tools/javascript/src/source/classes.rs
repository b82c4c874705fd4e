//! What TypeScript adds to classes.

use oxc_ast::ast::{
    BindingPattern, Class, ClassElement, Expression, FunctionBody, MethodDefinition,
    MethodDefinitionKind, MethodDefinitionType, PropertyDefinitionType, PropertyKey, Statement,
};
use oxc_span::{GetSpan, Span};

use super::{strip::Walk, text::skip_trivia};

/// Words before a member's name that JavaScript does not know.
const MODIFIERS: [&str; 7] = [
    "public",
    "private",
    "protected",
    "readonly",
    "override",
    "abstract",
    "declare",
];

/// `abstract` before a class and `implements …` behind its name.
pub(super) fn strip_head(walk: &mut Walk<'_>, class: &Class<'_>) {
    let start = match class.decorators.last() {
        Some(decorator) => decorator.span.end,
        None => class.span.start,
    };
    let at = skip_trivia(walk.text, start as usize);
    if class.r#abstract && walk.text[at..].starts_with("abstract") {
        walk.edits.blank(at, at + "abstract".len());
    }
    if let (Some(first), Some(last)) = (class.implements.first(), class.implements.last()) {
        let before = &walk.text[..first.span.start as usize];
        if let Some(keyword) = before.rfind("implements") {
            walk.edits.blank(keyword, last.span.end as usize);
        }
    }
}

/// Whether nothing of a member is left in JavaScript.
pub(super) fn is_type_only(element: &ClassElement<'_>) -> bool {
    match element {
        ClassElement::TSIndexSignature(_) => true,
        ClassElement::MethodDefinition(it) => {
            it.r#type == MethodDefinitionType::TSAbstractMethodDefinition || it.value.body.is_none()
        }
        ClassElement::PropertyDefinition(it) => {
            it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
        }
        ClassElement::AccessorProperty(it) => it.r#type.is_abstract(),
        ClassElement::StaticBlock(_) => false,
    }
}

/// Modifiers before a member's name, and `?` or `!` behind it.
pub(super) fn strip_modifiers(walk: &mut Walk<'_>, element: &ClassElement<'_>) {
    let (decorators, key, computed, marks) = match element {
        ClassElement::MethodDefinition(it) => (&it.decorators, &it.key, it.computed, it.optional),
        ClassElement::PropertyDefinition(it) => {
            let marks = it.optional || it.definite;
            (&it.decorators, &it.key, it.computed, marks)
        }
        ClassElement::AccessorProperty(it) => (&it.decorators, &it.key, it.computed, it.definite),
        ClassElement::StaticBlock(_) | ClassElement::TSIndexSignature(_) => return,
    };
    let start = decorators
        .last()
        .map_or(element.span().start, |decorator| decorator.span.end);
    let key: &PropertyKey<'_> = key;
    strip_words(
        walk,
        Span::new(start, key.span().start),
        decorators.is_empty(),
    );
    if marks {
        let mut end = skip_trivia(walk.text, key.span().end as usize);
        if computed && walk.text[end..].starts_with(']') {
            end += 1;
        }
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        walk.blank_mark(end, '?');
        walk.blank_mark(end, '!');
    }
}

/// Blanks modifiers in `span`. Where the first of them begins a member, a `;` takes its place: a
/// name in brackets would otherwise go on with the member before it.
fn strip_words(walk: &mut Walk<'_>, span: Span, begins_member: bool) {
    let end = span.end as usize;
    let mut at = skip_trivia(walk.text, span.start as usize);
    let mut first = begins_member.then_some(';');
    while at < end {
        let rest = &walk.text[at..end];
        let length = rest
            .find(|character: char| !character.is_alphanumeric())
            .unwrap_or(rest.len())
            .max(1);
        let word = rest.get(..length).unwrap_or(rest);
        if MODIFIERS.contains(&word) {
            walk.edits.blank_but(at, at + length, first, None);
        }
        first = None;
        at = skip_trivia(walk.text, at + word.len());
    }
}

/// `constructor(private name: T)` declares a field and fills it.
pub(super) fn strip_parameter_properties(walk: &mut Walk<'_>, method: &MethodDefinition<'_>) {
    if method.kind != MethodDefinitionKind::Constructor {
        return;
    }
    let Some(body) = &method.value.body else {
        return;
    };
    let mut assignments = String::new();
    for parameter in &method.value.params.items {
        if parameter.accessibility.is_none() && !parameter.readonly && !parameter.r#override {
            continue;
        }
        let start = parameter
            .decorators
            .last()
            .map_or(parameter.span.start, |decorator| decorator.span.end);
        strip_words(
            walk,
            Span::new(start, parameter.pattern.span().start),
            false,
        );
        if let Some(name) = bound_name(&parameter.pattern) {
            assignments.push_str(&format!(" this.{name} = {name};"));
        }
    }
    if !assignments.is_empty() {
        let at = after_super(body);
        walk.edits.insert(at as usize, format!(";{assignments}"));
    }
}

fn bound_name<'b>(pattern: &'b BindingPattern<'_>) -> Option<&'b str> {
    match pattern {
        BindingPattern::BindingIdentifier(it) => Some(it.name.as_str()),
        BindingPattern::AssignmentPattern(it) => bound_name(&it.left),
        BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_) => None,
    }
}

/// Where `this` can first be used: behind `super(…)`, or at the beginning of the body.
fn after_super(body: &FunctionBody<'_>) -> u32 {
    for statement in &body.statements {
        if let Statement::ExpressionStatement(it) = statement
            && let Expression::CallExpression(call) = &it.expression
            && matches!(call.callee, Expression::Super(_))
        {
            return it.span.end;
        }
    }
    body.directives
        .last()
        .map_or(body.span.start + 1, |directive| directive.span.end)
}
