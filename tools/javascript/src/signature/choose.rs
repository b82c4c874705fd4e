//! Which function of a source is the tool.

use oxc_ast::ast::{
    AssignmentTarget, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters,
    ObjectPropertyKind, Program, Statement, VariableDeclaration,
};
use oxc_span::GetSpan;

use crate::abi::Fault;

/// A function at the top level of a source.
#[derive(Debug, Clone)]
pub(crate) struct Candidate<'p> {
    /// The name that it has in the source; `default` for a default export without one.
    pub(crate) name: &'p str,
    /// Where the statement begins, to which a comment belongs.
    pub(crate) statement: u32,
    pub(crate) parameters: &'p FormalParameters<'p>,
    export: Export,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Export {
    No,
    Named,
    Default,
}

/// The function of this name; without one the default export, else the first function that is
/// exported, else the last one.
pub(crate) fn choose<'p>(
    program: &'p Program<'p>,
    name: Option<&str>,
) -> Result<Candidate<'p>, Fault> {
    let candidates = candidates(program);
    let with = |export: Export| candidates.iter().find(|it| it.export == export);
    let chosen = match name {
        // Of two functions with one name the later replaces the other.
        Some(name) => candidates.iter().rev().find(|it| it.name == name),
        None => with(Export::Default)
            .or_else(|| with(Export::Named))
            .or_else(|| candidates.last()),
    };
    chosen.cloned().ok_or_else(|| Fault {
        message: missing(name, &candidates),
        line: None,
        parameter: None,
    })
}

fn missing(name: Option<&str>, candidates: &[Candidate<'_>]) -> String {
    let names: Vec<&str> = candidates.iter().map(|it| it.name).collect();
    match (name, names.as_slice()) {
        (None, _) | (Some(_), []) => "No functions found in source code".to_owned(),
        (Some(name), names) => format!(
            "No function '{name}' in source code; its functions are: {}",
            names.join(", ")
        ),
    }
}

fn candidates<'p>(program: &'p Program<'p>) -> Vec<Candidate<'p>> {
    let mut found = Vec::new();
    let mut exports: Vec<(&str, Export)> = Vec::new();
    for statement in &program.body {
        let start = statement.span().start;
        match statement {
            Statement::ExportDeclaration(it) => {
                declaration(&it.declaration, start, Export::Named, &mut found);
            }
            Statement::ExportDefaultDeclaration(it) => {
                default_export(&it.declaration, start, &mut found, &mut exports);
            }
            Statement::ExportNamedDeclaration(it) => {
                for specifier in &it.specifiers {
                    let export = match specifier.exported.name().as_str() {
                        "default" => Export::Default,
                        _ => Export::Named,
                    };
                    exports.push((specifier.local.name().as_str(), export));
                }
            }
            Statement::ExpressionStatement(it) => common_js(&it.expression, &mut exports),
            other => {
                if let Some(it) = other.as_declaration() {
                    declaration(it, start, Export::No, &mut found);
                }
            }
        }
    }
    for candidate in &mut found {
        let export = exports.iter().find(|(name, _)| *name == candidate.name);
        if let Some((_, export)) = export {
            candidate.export = *export;
        }
    }
    found
}

fn declaration<'p>(
    declaration: &'p Declaration<'p>,
    statement: u32,
    export: Export,
    found: &mut Vec<Candidate<'p>>,
) {
    match declaration {
        Declaration::FunctionDeclaration(it) if it.body.is_some() && !it.declare => {
            if let Some(id) = &it.id {
                found.push(Candidate {
                    name: id.name.as_str(),
                    statement,
                    parameters: &it.params,
                    export,
                });
            }
        }
        Declaration::VariableDeclaration(it) => variables(it, statement, export, found),
        _ => {}
    }
}

fn variables<'p>(
    declaration: &'p VariableDeclaration<'p>,
    statement: u32,
    export: Export,
    found: &mut Vec<Candidate<'p>>,
) {
    for declarator in &declaration.declarations {
        let name = declarator.id.get_binding_identifier();
        let parameters = declarator.init.as_ref().and_then(function);
        if let (Some(name), Some(parameters)) = (name, parameters) {
            found.push(Candidate {
                name: name.name.as_str(),
                statement,
                parameters,
                export,
            });
        }
    }
}

fn default_export<'p>(
    kind: &'p ExportDefaultDeclarationKind<'p>,
    statement: u32,
    found: &mut Vec<Candidate<'p>>,
    exports: &mut Vec<(&'p str, Export)>,
) {
    let (name, parameters) = match kind {
        ExportDefaultDeclarationKind::FunctionDeclaration(it) if it.body.is_some() => {
            let name = it.id.as_ref().map_or("default", |id| id.name.as_str());
            (name, &*it.params)
        }
        ExportDefaultDeclarationKind::Identifier(it) => {
            exports.push((it.name.as_str(), Export::Default));
            return;
        }
        other => match other.as_expression().and_then(function) {
            Some(parameters) => ("default", parameters),
            None => return,
        },
    };
    found.push(Candidate {
        name,
        statement,
        parameters,
        export: Export::Default,
    });
}

/// The parameters of a function that is written as an expression.
fn function<'p>(expression: &'p Expression<'p>) -> Option<&'p FormalParameters<'p>> {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(it) => Some(&it.params),
        Expression::FunctionExpression(it) => Some(&it.params),
        _ => None,
    }
}

/// `module.exports = f`, `module.exports = { f }` and `exports.f = f`.
fn common_js<'p>(expression: &'p Expression<'p>, exports: &mut Vec<(&'p str, Export)>) {
    let Expression::AssignmentExpression(it) = expression else {
        return;
    };
    let AssignmentTarget::StaticMemberExpression(target) = &it.left else {
        return;
    };
    let is_exports = |expression: &Expression<'_>| match expression {
        Expression::Identifier(it) => it.name == "exports",
        Expression::StaticMemberExpression(it) => {
            it.property.name == "exports" && it.object.is_specific_id("module")
        }
        _ => false,
    };
    let whole = target.property.name == "exports" && target.object.is_specific_id("module");
    match &it.right {
        Expression::Identifier(name) if whole => {
            exports.push((name.name.as_str(), Export::Default))
        }
        Expression::Identifier(name) if is_exports(&target.object) => {
            exports.push((name.name.as_str(), Export::Named));
        }
        Expression::ObjectExpression(object) if whole => {
            for property in &object.properties {
                if let ObjectPropertyKind::ObjectProperty(property) = property
                    && let Expression::Identifier(name) = &property.value
                {
                    exports.push((name.name.as_str(), Export::Named));
                }
            }
        }
        _ => {}
    }
}
