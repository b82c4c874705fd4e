//! Where a name that is not defined stands. The engine keeps places of calls and properties, not
//! of names, so the frame of such an error leads to what ran before; the name's own place is
//! read from the source.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, IdentifierReference, UnaryExpression, UnaryOperator};
use oxc_ast_visit::{Visit, walk};

use crate::{
    abi::{Exception, Source},
    source::{
        parse::parse,
        text::{Place, place},
    },
};

/// The kind of error that names what is not defined.
const KIND: &str = "ReferenceError";
/// How the engine says it.
const MESSAGE: &str = " is not defined";

/// Puts the name's place into the first frame of the error: of the first use at or after what the
/// frame has, or of the first one at all.
pub(crate) fn locate(exception: &mut Exception, file: &str, source: &Source) {
    let Some(name) = exception.message.strip_suffix(MESSAGE) else {
        return;
    };
    if exception.kind != KIND {
        return;
    }
    let Some(frame) = exception.traceback.lines().nth(1) else {
        return;
    };
    let Some((before, written)) = frame.split_once(file) else {
        return;
    };
    let (written, after) = match written.strip_suffix(')') {
        Some(written) => (written, ")"),
        None => (written, ""),
    };
    let uses = uses(source, name);
    let known = written
        .trim_start_matches(':')
        .split_once(':')
        .and_then(|(line, column)| {
            let (line, column) = (line.parse().ok()?, column.parse().ok()?);
            Some(Place { line, column })
        });
    let later = |place: &&Place| {
        known.is_some_and(|known| (place.line, place.column) >= (known.line, known.column))
    };
    let Some(found) = uses.iter().find(later).or(uses.first()) else {
        return;
    };
    let better = format!("{before}{file}:{}:{}{after}", found.line, found.column);
    exception.traceback = exception.traceback.replacen(frame, &better, 1);
}

/// Where a source uses a name, in its order.
fn uses(source: &Source, name: &str) -> Vec<Place> {
    let allocator = Allocator::default();
    let Ok(parsed) = parse(&allocator, source) else {
        return Vec::new();
    };
    let mut found = Uses {
        name,
        text: parsed.text,
        places: Vec::new(),
    };
    found.visit_program(&parsed.program);
    found.places
}

struct Uses<'n> {
    name: &'n str,
    text: &'n str,
    places: Vec<Place>,
}

impl<'a> Visit<'a> for Uses<'_> {
    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        // `typeof` asks whether it is defined.
        let asks = it.operator == UnaryOperator::Typeof
            && matches!(it.argument, Expression::Identifier(_));
        if !asks {
            walk::walk_unary_expression(self, it);
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if it.name == self.name {
            self.places.push(place(self.text, it.span.start));
        }
    }
}
