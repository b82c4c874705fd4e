//! Which statements of TypeScript are left in JavaScript.

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, ExportSpecifier, Function, ImportDeclaration,
    ImportDeclarationSpecifier, ImportOrExportKind, Statement,
};
use oxc_span::Span;

use super::text::skip_trivia;

/// What becomes of a statement.
pub(super) enum Fate {
    Stays,
    /// It only says something about types.
    Goes,
    /// It stays without these pieces, and nothing else in it has to change.
    Loses(Vec<Span>),
    /// It can't be run; the text says why.
    Refused(String),
}

/// What becomes of `statement`.
pub(super) fn fate(statement: &Statement<'_>, text: &str) -> Fate {
    match statement {
        Statement::ImportDeclaration(import) if is_type_import(import) => Fate::Goes,
        Statement::ImportDeclaration(import) => Fate::Refused(no_module(&import.source.value)),
        Statement::ExportFromDeclaration(export) => match export.export_kind {
            ImportOrExportKind::Type => Fate::Goes,
            ImportOrExportKind::Value => Fate::Refused(no_module(&export.source.value)),
        },
        Statement::ExportAllDeclaration(export) => match export.export_kind {
            ImportOrExportKind::Type => Fate::Goes,
            ImportOrExportKind::Value => Fate::Refused(no_module(&export.source.value)),
        },
        Statement::ExportNamedDeclaration(export) => match export.export_kind {
            ImportOrExportKind::Type => Fate::Goes,
            ImportOrExportKind::Value => type_specifiers(&export.specifiers, text),
        },
        Statement::ExportDeclaration(export) => declaration(&export.declaration),
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Fate::Goes,
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => bodiless(function),
            _ => Fate::Stays,
        },
        Statement::TSExportAssignment(_) => {
            Fate::Refused("`export =` can't be run; write `export default`".to_owned())
        }
        Statement::TSNamespaceExportDeclaration(_) => Fate::Goes,
        other => other.as_declaration().map_or(Fate::Stays, declaration),
    }
}

fn declaration(declaration: &Declaration<'_>) -> Fate {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => Fate::Goes,
        Declaration::TSEnumDeclaration(it) if it.declare => Fate::Goes,
        Declaration::ClassDeclaration(it) if it.declare => Fate::Goes,
        Declaration::VariableDeclaration(it) if it.declare => Fate::Goes,
        Declaration::FunctionDeclaration(it) => bodiless(it),
        Declaration::TSNamespaceDeclaration(it) if it.declare => Fate::Goes,
        Declaration::TSNamespaceDeclaration(it) => Fate::Refused(format!(
            "namespace `{}` can't be run; write functions and constants at the top level",
            it.id.name
        )),
        Declaration::TSImportEqualsDeclaration(it)
            if it.import_kind == ImportOrExportKind::Type =>
        {
            Fate::Goes
        }
        Declaration::TSImportEqualsDeclaration(it) => Fate::Refused(format!(
            "`import {} = …` can't be run: modules can't be imported",
            it.id.name
        )),
        _ => Fate::Stays,
    }
}

/// Overloads and `declare function` have no body.
fn bodiless(function: &Function<'_>) -> Fate {
    if function.declare || function.body.is_none() {
        Fate::Goes
    } else {
        Fate::Stays
    }
}

fn is_type_import(import: &ImportDeclaration<'_>) -> bool {
    if import.import_kind == ImportOrExportKind::Type {
        return true;
    }
    let Some(specifiers) = &import.specifiers else {
        return false;
    };
    !specifiers.is_empty()
        && specifiers.iter().all(|specifier| {
            matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(it)
                if it.import_kind == ImportOrExportKind::Type)
        })
}

/// `type` specifiers between others, each with its comma.
fn type_specifiers(specifiers: &[ExportSpecifier<'_>], text: &str) -> Fate {
    let types = specifiers
        .iter()
        .filter(|specifier| specifier.export_kind == ImportOrExportKind::Type);
    let pieces = types.map(|specifier| {
        let comma = skip_trivia(text, specifier.span.end as usize);
        let end = match text[comma..].starts_with(',') {
            true => u32::try_from(comma + 1).unwrap_or(specifier.span.end),
            false => specifier.span.end,
        };
        Span::new(specifier.span.start, end)
    });
    Fate::Loses(pieces.collect())
}

/// What is said of a module that source wants.
pub(crate) fn no_module(name: &str) -> String {
    format!(
        "module '{name}' can't be imported: packages and Node.js modules are not available; use \
         the language and its web interfaces (fetch, URL, crypto …)"
    )
}
