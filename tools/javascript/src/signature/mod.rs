//! What a tool's function takes, read from its types and comments without running it.
//!
//! - [`choose`]: which function it is.
//! - [`types`], [`jsdoc`]: types of TypeScript and of documentation comments, as [`shape`].
//! - [`comments`]: what documentation comments say.

mod choose;
mod comments;
mod jsdoc;
mod shape;
mod types;

use oxc_ast::ast::{BindingPattern, Expression, FormalParameter, ObjectPattern, UnaryOperator};
use oxc_span::Span;

pub(crate) use shape::{Field, Fields, Literal, Shape};

use crate::{
    abi::Fault,
    source::{parse::Parsed, text::line},
};
use choose::{Candidate, choose};
use comments::{Comments, Doc, Documented};
use types::{Typed, Types, key_name};

/// A function as its caller sees it.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The last parameter, if it takes all further arguments: `...values`.
    pub(crate) rest: Option<Parameter>,
    /// Whether the parameters are properties of one object that the function takes apart.
    pub(crate) one_object: bool,
}

/// What a function takes under a name.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// With [`Shape::Any`] where the type is unknown.
    pub(crate) field: Field,
    /// Why JSON Schema can't say what it takes.
    pub(crate) fault: Option<Fault>,
}

impl Signature {
    /// Reads the function of this name, or the one that the rules choose.
    pub(crate) fn read(parsed: &Parsed<'_>, name: Option<&str>) -> Result<Self, Fault> {
        let comments = Comments::new(&parsed.program);
        let types = Types::new(&parsed.program, &comments);
        let chosen = choose(&parsed.program, name)?;
        let doc = comments.at(chosen.statement).unwrap_or_default();
        let reader = Reader {
            text: parsed.text,
            types: &types,
            comments: &comments,
            doc: &doc,
            function: chosen.name,
        };
        Ok(reader.signature(&chosen))
    }

    /// The first thing that keeps a schema from being made.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.all().find_map(|parameter| parameter.fault.as_ref())
    }

    /// The parameters, the one for further arguments included.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().chain(&self.rest)
    }

    /// The JSON Schema of the arguments.
    pub(crate) fn schema(&self) -> serde_json::Value {
        let fields = Fields {
            list: self
                .all()
                .map(|parameter| parameter.field.clone())
                .collect(),
            others: None,
        };
        let mut schema = fields.schema();
        // Clients expect both, empty ones too.
        if let Some(schema) = schema.as_object_mut() {
            for (key, empty) in [
                ("properties", serde_json::json!({})),
                ("required", serde_json::json!([])),
            ] {
                schema.entry(key).or_insert(empty);
            }
        }
        schema
    }
}

struct Reader<'r> {
    text: &'r str,
    types: &'r Types<'r>,
    comments: &'r Comments<'r>,
    doc: &'r Doc,
    function: &'r str,
}

impl Reader<'_> {
    fn signature(&self, chosen: &Candidate<'_>) -> Signature {
        let items = &chosen.parameters.items;
        let mut one_object = false;
        let parameters = match items.as_slice() {
            [only] if chosen.parameters.rest.is_none() => match &only.pattern {
                BindingPattern::ObjectPattern(pattern) => {
                    one_object = true;
                    self.properties(only, pattern)
                }
                _ => vec![self.parameter(0, only)],
            },
            items => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.parameter(index, item))
                .collect(),
        };
        let rest = chosen.parameters.rest.as_ref().map(|rest| {
            let name = binding_name(&rest.rest.argument).unwrap_or("rest");
            let annotation = rest.type_annotation.as_ref();
            let kind = annotation.map(|it| self.types.read(&it.type_annotation));
            let mut parameter = self.named(name, rest.span, kind, None);
            // `@param {...string} values` says what one of them is.
            if !matches!(parameter.field.shape, Shape::Array(_) | Shape::Tuple(_)) {
                let one = std::mem::replace(&mut parameter.field.shape, Shape::Any);
                parameter.field.shape = Shape::Array(Box::new(one));
            }
            parameter.field.optional = true;
            parameter
        });
        Signature {
            name: chosen.name.to_owned(),
            description: self.doc.description.clone(),
            parameters,
            rest,
            one_object,
        }
    }

    fn parameter(&self, index: usize, item: &FormalParameter<'_>) -> Parameter {
        let documented = self
            .doc
            .parameters
            .iter()
            .filter(|it| !it.path.contains('.'));
        let name = match binding_name(&item.pattern) {
            Some(name) => name.to_owned(),
            // A parameter that is taken apart has no name of its own.
            None => match documented.clone().nth(index) {
                Some(documented) => documented.path.clone(),
                None => format!("parameter{}", index + 1),
            },
        };
        let annotation = item.type_annotation.as_ref();
        let kind = annotation.map(|it| self.types.read(&it.type_annotation));
        let mut parameter = self.named(&name, item.span, kind, item.initializer.as_deref());
        parameter.field.optional |= item.optional || item.initializer.is_some();
        if parameter.field.description.is_empty() {
            parameter.field.description = self.comments.description_at(item.span.start);
        }
        parameter
    }

    /// A parameter whose type, if the source gives one, was read already.
    fn named(
        &self,
        name: &str,
        span: Span,
        kind: Option<Result<Typed, String>>,
        default: Option<&Expression<'_>>,
    ) -> Parameter {
        let documented = self.doc.parameter(name);
        let kind = kind
            .or_else(|| documented.and_then(|it| self.documented(it)))
            .or_else(|| default.and_then(value_shape).map(|shape| Ok(typed(shape))));
        let described = documented.map_or("", |it| it.description.as_str());
        let mut field = Field {
            name: name.to_owned(),
            shape: Shape::Any,
            optional: documented.is_some_and(|it| it.optional),
            description: described.to_owned(),
        };
        let fault = match kind {
            Some(Ok(kind)) => {
                field.shape = kind.shape;
                field.optional |= kind.undefined;
                None
            }
            Some(Err(message)) => Some(format!(
                "Parameter '{name}' in function '{}': {message}",
                self.function
            )),
            None => Some(format!(
                "Parameter '{name}' in function '{function}' lacks a type: write `{name}: string` \
                 in TypeScript, or `@param {{string}} {name}` in a comment before the function",
                function = self.function
            )),
        };
        Parameter {
            field,
            fault: fault.map(|message| self.fault(name, span, message)),
        }
    }

    fn fault(&self, name: &str, span: Span, message: String) -> Fault {
        Fault {
            message,
            line: Some(line(self.text, span.start)),
            parameter: Some(name.to_owned()),
        }
    }

    /// The type in a documentation comment.
    fn documented(&self, documented: &Documented) -> Option<Result<Typed, String>> {
        let properties = self.doc.properties(&documented.path);
        let kind = documented.kind.as_deref();
        let kind = kind.map(|kind| jsdoc::read(kind, self.types));
        if properties.is_empty() {
            return kind;
        }
        // `@param {string} options.unit` says more than `@param {Object} options`.
        let mut fields = Fields::default();
        for (name, property) in properties {
            let kind = match self.documented(property) {
                None => typed(Shape::Any),
                Some(Ok(kind)) => kind,
                Some(Err(message)) => return Some(Err(message)),
            };
            fields.list.push(Field {
                name: name.to_owned(),
                shape: kind.shape,
                optional: property.optional || kind.undefined,
                description: property.description.clone(),
            });
        }
        let shape = match kind {
            Some(Ok(Typed {
                shape: Shape::Array(_),
                ..
            })) => Shape::Array(Box::new(Shape::Object(fields))),
            _ => Shape::Object(fields),
        };
        Some(Ok(typed(shape)))
    }

    /// `function f({ a, b })`: the properties are what the caller passes.
    fn properties(
        &self,
        item: &FormalParameter<'_>,
        pattern: &ObjectPattern<'_>,
    ) -> Vec<Parameter> {
        let documented = self.doc.parameters.iter().find(|it| !it.path.contains('.'));
        let annotation = item.type_annotation.as_ref();
        let kind = annotation.map(|it| self.types.read(&it.type_annotation));
        let kind = kind.or_else(|| documented.and_then(|it| self.documented(it)));
        let (known, fault) = match kind {
            Some(Ok(Typed {
                shape: Shape::Object(fields),
                ..
            })) => (fields.list, None),
            Some(Err(message)) => (Vec::new(), Some(message)),
            Some(Ok(_)) | None => (Vec::new(), None),
        };
        let mut parameters: Vec<Parameter> = known
            .into_iter()
            .map(|field| Parameter { field, fault: None })
            .collect();
        for property in &pattern.properties {
            let Some(name) = key_name(&property.key) else {
                continue;
            };
            let default = match &property.value {
                BindingPattern::AssignmentPattern(it) => Some(&it.right),
                _ => None,
            };
            let place = parameters.iter().position(|it| it.field.name == name);
            let place = place.unwrap_or_else(|| {
                let kind = fault.clone().map(Err);
                parameters.push(self.named(&name, property.span, kind, default));
                parameters.len() - 1
            });
            parameters[place].field.optional |= default.is_some();
        }
        // Without an argument nothing in it can be needed.
        if item.initializer.is_some() {
            parameters
                .iter_mut()
                .for_each(|it| it.field.optional = true);
        }
        parameters
    }
}

fn typed(shape: Shape) -> Typed {
    Typed {
        shape,
        undefined: false,
    }
}

fn binding_name<'p>(pattern: &'p BindingPattern<'p>) -> Option<&'p str> {
    match pattern {
        BindingPattern::BindingIdentifier(it) => Some(it.name.as_str()),
        BindingPattern::AssignmentPattern(it) => binding_name(&it.left),
        BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_) => None,
    }
}

/// What a default value says of its parameter.
fn value_shape(value: &Expression<'_>) -> Option<Shape> {
    match value.get_inner_expression() {
        Expression::NumericLiteral(_) => Some(Shape::Number),
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::UnaryNegation => {
            Some(Shape::Number)
        }
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => Some(Shape::String),
        Expression::BooleanLiteral(_) => Some(Shape::Boolean),
        Expression::ArrayExpression(_) => Some(Shape::Array(Box::new(Shape::Any))),
        Expression::ObjectExpression(_) => Some(Shape::Object(Fields::default())),
        _ => None,
    }
}
