//! TypeScript to JavaScript by putting white space in the place of types, so that every line and
//! column of what remains stays where it was.
//!
//! What has a meaning at run time and no JavaScript spelling is rewritten within its own lines:
//! enums ([`super::enums`]) and parameter properties ([`super::classes`]). Namespaces with code
//! and `import … = require(…)` are refused.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Class, ClassElement, ForOfStatement, FormalParameter,
    Function, ImportMeta, MethodDefinition, Program, Statement, TSAsExpression, TSEnumDeclaration,
    TSInstantiationExpression, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter,
    TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::{
    classes,
    edits::Edits,
    enums::Enum,
    statement::{Fate, fate},
    text::{line, skip_trivia},
};
use crate::abi::Fault;

/// What a walk through a program found.
pub(crate) struct Stripped {
    /// What has to change for it to be JavaScript.
    pub(crate) edits: Edits,
    /// Whether code outside of functions awaits something.
    pub(crate) awaits: bool,
    /// Whether `import.meta` is used.
    pub(crate) meta: bool,
}

/// Walks through a program; a fault names the first thing that can't be run.
pub(crate) fn strip(program: &Program<'_>, text: &str) -> Result<Stripped, Fault> {
    let mut walk = Walk {
        text,
        edits: Edits::default(),
        enums: Vec::new(),
        fault: None,
        functions: 0,
        awaits: false,
        meta: false,
    };
    walk.visit_program(program);
    if let Some(fault) = walk.fault {
        return Err(fault);
    }
    // Inner enums first: those in the initialiser of another are part of its text.
    let mut enums = walk.enums;
    enums.sort_by_key(|declared| declared.span.size());
    for declared in &enums {
        let code = declared.code(text, &walk.edits);
        walk.edits.replace(text, declared.span, code);
    }
    Ok(Stripped {
        edits: walk.edits,
        awaits: walk.awaits,
        meta: walk.meta,
    })
}

pub(super) struct Walk<'t> {
    pub(super) text: &'t str,
    pub(super) edits: Edits,
    enums: Vec<Enum>,
    fault: Option<Fault>,
    /// Functions around what is visited.
    functions: u32,
    awaits: bool,
    meta: bool,
}

impl Walk<'_> {
    pub(super) fn blank(&mut self, span: Span) {
        self.edits.blank(span.start as usize, span.end as usize);
    }

    /// A whole statement or class element disappears.
    pub(super) fn remove(&mut self, span: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        self.edits.blank_but(start, end, Some(';'), None);
    }

    /// Removes `mark` if it is what follows `from`, past white space.
    pub(super) fn blank_mark(&mut self, from: u32, mark: char) {
        let at = skip_trivia(self.text, from as usize);
        if self.text[at..].starts_with(mark) {
            self.edits.blank(at, at + mark.len_utf8());
        }
    }

    pub(super) fn refuse(&mut self, span: Span, message: String) {
        if self.fault.is_none() {
            self.fault = Some(Fault {
                message,
                line: Some(line(self.text, span.start)),
                parameter: None,
            });
        }
    }

    /// The type behind an expression, from the expression's end on.
    fn blank_after(&mut self, expression: Span, whole: Span) {
        self.edits
            .blank(expression.end as usize, whole.end as usize);
    }

    /// A `;` in the place of a type that ended the statement without one.
    pub(super) fn end_statement(&mut self, since: usize, span: Span) {
        let end = span.end as usize;
        if !self.text[..end].ends_with([';', '}']) {
            self.edits.end_statement(since, end);
        }
    }
}

impl<'a> Visit<'a> for Walk<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        let since = self.edits.len();
        match fate(it, self.text) {
            Fate::Stays => walk::walk_statement(self, it),
            Fate::Goes => self.remove(it.span()),
            Fate::Loses(pieces) => pieces.into_iter().for_each(|piece| self.blank(piece)),
            Fate::Refused(message) => self.refuse(it.span(), message),
        }
        self.end_statement(since, it.span());
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
        // No line may end between `)` and `=>`: the bracket moves to the end of the type.
        if let Some(result) = &it.return_type {
            let (start, end) = (it.params.span.end as usize, result.span.end as usize);
            if self.text[start..end].contains('\n') && self.text[..start].ends_with(')') {
                self.edits.blank_but(start - 1, end, None, Some(')'));
            }
        }
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.awaits |= self.functions == 0;
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.awaits |= it.r#await && self.functions == 0;
        walk::walk_for_of_statement(self, it);
    }

    fn visit_import_meta(&mut self, _: &ImportMeta) {
        self.meta = true;
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.optional {
            self.blank_mark(it.pattern.span().end, '?');
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let end = it.span.end as usize;
        let comma = skip_trivia(self.text, end);
        let end = if self.text[comma..].starts_with(',') {
            comma + 1
        } else {
            end
        };
        self.edits.blank(it.span.start as usize, end);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark(it.id.span().end, '!');
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let (start, end) = (it.span.start, it.expression.span().start);
        if self.text[start as usize..end as usize].contains('\n') {
            // After `return` the line break would end the statement.
            let message = "a type assertion over several lines can't be run; write `value as Type`";
            self.refuse(it.span, message.to_owned());
        }
        self.edits.blank(start as usize, end as usize);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        for member in &it.body.members {
            if let Some(initializer) = &member.initializer {
                self.visit_expression(initializer);
            }
        }
        self.enums.push(Enum::new(it));
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        classes::strip_head(self, it);
        walk::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        let since = self.edits.len();
        if classes::is_type_only(it) {
            self.remove(it.span());
            return;
        }
        classes::strip_modifiers(self, it);
        walk::walk_class_element(self, it);
        self.end_statement(since, it.span());
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        classes::strip_parameter_properties(self, it);
        walk::walk_method_definition(self, it);
    }
}
