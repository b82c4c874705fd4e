//! Types of TypeScript as shapes.

use std::collections::BTreeMap;

use oxc_ast::ast::{
    Declaration, Expression, Program, PropertyKey, Statement, TSEnumDeclaration,
    TSInterfaceDeclaration, TSLiteral, TSSignature, TSTupleElement, TSType, TSTypeAliasDeclaration,
    TSTypeName, TSTypeOperatorOperator, TSTypeParameterInstantiation, TSTypeReference,
    UnaryOperator,
};
use oxc_span::GetSpan;

use super::{
    comments::Comments,
    shape::{Field, Fields, Literal, Shape},
};
use crate::source::member_name;

/// Types within types. A type that holds itself is cut off long before.
const MAX_DEPTH: usize = 24;
/// Types that one signature unfolds to. Names that double what they name grow fast.
const MAX_TYPES: usize = 2_000;

/// What a source declares under names.
pub(crate) struct Types<'p> {
    declared: BTreeMap<&'p str, Declared<'p>>,
    comments: &'p Comments<'p>,
    text: &'p str,
}

#[derive(Clone, Copy)]
enum Declared<'p> {
    Alias(&'p TSTypeAliasDeclaration<'p>),
    Interface(&'p TSInterfaceDeclaration<'p>),
    Enum(&'p TSEnumDeclaration<'p>),
}

/// A parameter's type: what JSON can say of it, and whether it may be left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Typed {
    pub(crate) shape: Shape,
    pub(crate) undefined: bool,
}

impl<'p> Types<'p> {
    /// The types that a program declares at its top level.
    pub(crate) fn new(program: &'p Program<'p>, comments: &'p Comments<'p>) -> Self {
        let mut declared = BTreeMap::new();
        for statement in &program.body {
            let declaration = match statement {
                Statement::ExportDeclaration(export) => Some(&export.declaration),
                other => other.as_declaration(),
            };
            match declaration {
                Some(Declaration::TSTypeAliasDeclaration(it)) => {
                    declared.insert(it.id.name.as_str(), Declared::Alias(it));
                }
                Some(Declaration::TSInterfaceDeclaration(it)) => {
                    declared.insert(it.id.name.as_str(), Declared::Interface(it));
                }
                Some(Declaration::TSEnumDeclaration(it)) => {
                    declared.insert(it.id.name.as_str(), Declared::Enum(it));
                }
                _ => {}
            }
        }
        Self {
            declared,
            comments,
            text: program.source_text,
        }
    }

    /// What JSON can say of a type; the error says which type it can't say.
    pub(crate) fn read(&self, kind: &TSType<'_>) -> Result<Typed, String> {
        let mut reader = Reader {
            types: self,
            text: self.text,
            own: true,
            left: MAX_TYPES,
            open: Vec::new(),
        };
        reader.typed(kind)
    }

    /// As [`Self::read`], for a type that stands in another text than the program's.
    pub(crate) fn read_in(&self, kind: &TSType<'_>, text: &str) -> Result<Typed, String> {
        let mut reader = Reader {
            types: self,
            text,
            own: false,
            left: MAX_TYPES,
            open: Vec::new(),
        };
        reader.typed(kind)
    }
}

struct Reader<'r, 'p: 'r> {
    types: &'r Types<'p>,
    /// Where the spans of the type lead.
    text: &'r str,
    /// Whether that is the program, whose comments are known.
    own: bool,
    left: usize,
    /// Names that are being unfolded.
    open: Vec<&'p str>,
}

impl<'p> Reader<'_, 'p> {
    /// A type of which `undefined` is no shape but leave to be absent.
    fn typed(&mut self, kind: &TSType<'_>) -> Result<Typed, String> {
        if let TSType::TSUnionType(union) = kind {
            let absent = |member: &&TSType<'_>| {
                matches!(
                    member,
                    TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_)
                )
            };
            let undefined = union.types.iter().any(|member| absent(&member));
            let rest = union.types.iter().filter(|member| !absent(member));
            let shapes = rest
                .map(|member| self.shape(member))
                .collect::<Result<Vec<_>, _>>()?;
            let shape = Shape::union(shapes);
            return Ok(Typed { shape, undefined });
        }
        if let TSType::TSParenthesizedType(it) = kind {
            return self.typed(&it.type_annotation);
        }
        Ok(Typed {
            shape: self.shape(kind)?,
            undefined: false,
        })
    }

    fn shape(&mut self, kind: &TSType<'_>) -> Result<Shape, String> {
        if self.left == 0 || self.open.len() > MAX_DEPTH {
            return Err("it unfolds to more types than a schema may have".to_owned());
        }
        self.left -= 1;
        Ok(match kind {
            TSType::TSAnyKeyword(_) | TSType::TSUnknownKeyword(_) | TSType::JSDocUnknownType(_) => {
                Shape::Any
            }
            TSType::TSStringKeyword(_) | TSType::TSTemplateLiteralType(_) => Shape::String,
            TSType::TSNumberKeyword(_) => Shape::Number,
            TSType::TSBooleanKeyword(_) => Shape::Boolean,
            TSType::TSNullKeyword(_) | TSType::TSUndefinedKeyword(_) | TSType::TSVoidKeyword(_) => {
                Shape::Null
            }
            TSType::TSObjectKeyword(_) => any_object(),
            TSType::TSArrayType(it) => Shape::Array(Box::new(self.shape(&it.element_type)?)),
            TSType::TSTupleType(it) => self.tuple(&it.element_types)?,
            TSType::TSLiteralType(it) => Shape::Literals(vec![self.literal(&it.literal)?]),
            TSType::TSUnionType(it) => {
                let members = it.types.iter().map(|member| self.shape(member));
                Shape::union(members.collect::<Result<Vec<_>, _>>()?)
            }
            TSType::TSIntersectionType(it) => self.intersection(&it.types)?,
            TSType::TSTypeLiteral(it) => Shape::Object(self.fields(&it.members)?),
            TSType::TSParenthesizedType(it) => self.shape(&it.type_annotation)?,
            TSType::TSTypeOperatorType(it) if it.operator == TSTypeOperatorOperator::Readonly => {
                self.shape(&it.type_annotation)?
            }
            TSType::JSDocNullableType(it) => {
                Shape::union([self.shape(&it.type_annotation)?, Shape::Null])
            }
            TSType::JSDocNonNullableType(it) => self.shape(&it.type_annotation)?,
            TSType::TSTypeReference(it) => self.reference(it)?,
            other => return Err(self.cannot_say(other)),
        })
    }

    fn cannot_say(&self, kind: &TSType<'_>) -> String {
        let span = kind.span();
        let text = self.text.get(span.start as usize..span.end as usize);
        format!("type `{}` has no JSON Schema", text.unwrap_or("?").trim())
    }

    fn tuple(&mut self, elements: &[TSTupleElement<'_>]) -> Result<Shape, String> {
        let mut shapes = Vec::new();
        for element in elements {
            let shape = match element {
                TSTupleElement::TSOptionalType(it) => self.shape(&it.type_annotation)?,
                TSTupleElement::TSRestType(_) => return Ok(Shape::Array(Box::new(Shape::Any))),
                TSTupleElement::TSNamedTupleMember(it) => match it.element_type.as_ts_type() {
                    Some(kind) => self.shape(kind)?,
                    None => return Ok(Shape::Array(Box::new(Shape::Any))),
                },
                other => match other.as_ts_type() {
                    Some(kind) => self.shape(kind)?,
                    None => Shape::Any,
                },
            };
            shapes.push(shape);
        }
        Ok(Shape::Tuple(shapes))
    }

    fn literal(&self, literal: &TSLiteral<'_>) -> Result<Literal, String> {
        Ok(match literal {
            TSLiteral::StringLiteral(it) => Literal::String(it.value.to_string()),
            TSLiteral::NumericLiteral(it) => Literal::Number(it.value),
            TSLiteral::BooleanLiteral(it) => Literal::Boolean(it.value),
            TSLiteral::UnaryExpression(it) if it.operator == UnaryOperator::UnaryNegation => {
                match &it.argument {
                    Expression::NumericLiteral(number) => Literal::Number(-number.value),
                    _ => return Err("its literal is no number".to_owned()),
                }
            }
            TSLiteral::TemplateLiteral(it) if it.expressions.is_empty() => {
                let parts = it
                    .quasis
                    .iter()
                    .filter_map(|part| part.value.cooked.as_ref());
                Literal::String(parts.map(|part| part.as_str()).collect())
            }
            _ => return Err("one of its literals has no JSON form".to_owned()),
        })
    }

    fn intersection(&mut self, members: &[TSType<'_>]) -> Result<Shape, String> {
        let mut fields = Fields::default();
        for member in members {
            match self.shape(member)? {
                Shape::Object(more) => merge(&mut fields, more),
                Shape::Any => {}
                other => {
                    return Err(format!(
                        "an intersection with {} has no JSON Schema",
                        other.name()
                    ));
                }
            }
        }
        Ok(Shape::Object(fields))
    }

    fn fields(&mut self, members: &[TSSignature<'_>]) -> Result<Fields, String> {
        let mut fields = Fields::default();
        for member in members {
            match member {
                TSSignature::TSPropertySignature(it) => {
                    let Some(name) = key_name(&it.key) else {
                        return Err("a property's name is computed".to_owned());
                    };
                    let typed = match &it.type_annotation {
                        Some(annotation) => self.typed(&annotation.type_annotation)?,
                        None => Typed {
                            shape: Shape::Any,
                            undefined: false,
                        },
                    };
                    let description = match self.own {
                        true => self.types.comments.description_at(it.span.start),
                        false => String::new(),
                    };
                    fields.list.push(Field {
                        name,
                        shape: typed.shape,
                        optional: it.optional || typed.undefined,
                        description,
                    });
                }
                TSSignature::TSIndexSignature(it) => {
                    let shape = self.shape(&it.type_annotation.type_annotation)?;
                    fields.others = Some(Box::new(shape));
                }
                TSSignature::TSMethodSignature(_)
                | TSSignature::TSCallSignatureDeclaration(_)
                | TSSignature::TSConstructSignatureDeclaration(_) => {
                    return Err("an object with methods has no JSON Schema".to_owned());
                }
            }
        }
        Ok(fields)
    }

    fn reference(&mut self, reference: &TSTypeReference<'_>) -> Result<Shape, String> {
        let name = match &reference.type_name {
            TSTypeName::IdentifierReference(it) => it.name.as_str(),
            // `Color.Red`, a member of an enum.
            TSTypeName::QualifiedName(it) => {
                let TSTypeName::IdentifierReference(left) = &it.left else {
                    return Err(format!("type `{}` is not declared here", it.right.name));
                };
                return self.enum_member(left.name.as_str(), it.right.name.as_str());
            }
            TSTypeName::ThisExpression(_) => return Err("`this` has no JSON Schema".to_owned()),
        };
        let arguments = reference.type_arguments.as_deref();
        if let Some((&known, &declared)) = self.types.declared.get_key_value(name) {
            return self.named(known, declared, arguments);
        }
        self.built_in(name, arguments)
    }

    /// A type that the source declares. One that holds itself is any object where it does.
    fn named(
        &mut self,
        name: &'p str,
        declared: Declared<'p>,
        arguments: Option<&TSTypeParameterInstantiation<'_>>,
    ) -> Result<Shape, String> {
        if arguments.is_some() {
            return Err(format!(
                "type `{name}<…>` has parameters, which have no JSON Schema"
            ));
        }
        if self.open.contains(&name) {
            return Ok(any_object());
        }
        self.open.push(name);
        let (text, own) = (self.text, self.own);
        (self.text, self.own) = (self.types.text, true);
        // What is declared stands in the program, wherever its name was read.
        let shape = match declared {
            Declared::Alias(it) => self.shape(&it.type_annotation),
            Declared::Interface(it) => self.interface(it),
            Declared::Enum(it) => Ok(Shape::Literals(
                enum_values(it)
                    .into_iter()
                    .map(|(_, value)| value)
                    .collect(),
            )),
        };
        self.text = text;
        self.own = own;
        self.open.pop();
        shape
    }

    fn interface(&mut self, interface: &TSInterfaceDeclaration<'_>) -> Result<Shape, String> {
        let mut fields = Fields::default();
        for base in &interface.extends {
            let TSTypeName::IdentifierReference(name) = &base.type_name else {
                return Err("an interface extends what is not declared here".to_owned());
            };
            let known = self.types.declared.get_key_value(name.name.as_str());
            let Some((&known, &declared)) = known else {
                return Err(format!("type `{}` is not declared here", name.name));
            };
            if let Shape::Object(more) =
                self.named(known, declared, base.type_arguments.as_deref())?
            {
                merge(&mut fields, more);
            }
        }
        let own = self.fields(&interface.body.body)?;
        merge(&mut fields, own);
        Ok(Shape::Object(fields))
    }

    fn enum_member(&self, name: &str, member: &str) -> Result<Shape, String> {
        if let Some(Declared::Enum(it)) = self.types.declared.get(name)
            && let Some((_, value)) = enum_values(it).into_iter().find(|(name, _)| name == member)
        {
            return Ok(Shape::Literals(vec![value]));
        }
        Err(format!("type `{name}.{member}` is not declared here"))
    }

    /// Types that the language brings, and the words of JSDoc.
    fn built_in(
        &mut self,
        name: &str,
        arguments: Option<&TSTypeParameterInstantiation<'_>>,
    ) -> Result<Shape, String> {
        let arguments = arguments.map_or(&[][..], |it| it.params.as_slice());
        Ok(match (name, arguments) {
            ("String", []) => Shape::String,
            ("Number" | "float" | "double", []) => Shape::Number,
            ("integer" | "int" | "Integer", []) => Shape::Integer,
            ("Boolean" | "bool", []) => Shape::Boolean,
            ("Date", []) => Shape::Date,
            ("Object", []) => any_object(),
            ("Array" | "array", []) => Shape::Array(Box::new(Shape::Any)),
            ("Array" | "ReadonlyArray" | "Iterable", [items]) => {
                Shape::Array(Box::new(self.shape(items)?))
            }
            ("Record", [_, values]) => Shape::Object(Fields {
                list: Vec::new(),
                others: Some(Box::new(self.shape(values)?)),
            }),
            ("Readonly" | "NonNullable", [inner]) => self.shape(inner)?,
            ("Partial" | "Required", [inner]) => match self.shape(inner)? {
                Shape::Object(mut fields) => {
                    let optional = name == "Partial";
                    fields
                        .list
                        .iter_mut()
                        .for_each(|field| field.optional = optional);
                    Shape::Object(fields)
                }
                other => other,
            },
            ("Pick" | "Omit", [inner, names]) => {
                let names = self.shape(names)?;
                match (self.shape(inner)?, names) {
                    (Shape::Object(mut fields), Shape::Literals(names)) => {
                        let picks = name == "Pick";
                        fields.list.retain(|field| {
                            names.contains(&Literal::String(field.name.clone())) == picks
                        });
                        Shape::Object(fields)
                    }
                    _ => return Err(format!("`{name}` of this type has no JSON Schema")),
                }
            }
            (_, []) => return Err(format!("type `{name}` is not declared here")),
            _ => return Err(format!("type `{name}<…>` has no JSON Schema")),
        })
    }
}

fn any_object() -> Shape {
    Shape::Object(Fields::default())
}

/// Puts properties behind others; of two with one name the later counts.
fn merge(fields: &mut Fields, more: Fields) {
    for field in more.list {
        fields.list.retain(|known| known.name != field.name);
        fields.list.push(field);
    }
    if more.others.is_some() {
        fields.others = more.others;
    }
}

/// A property's name, unless it is computed.
pub(crate) fn key_name(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(it) => Some(it.name.to_string()),
        PropertyKey::StringLiteral(it) => Some(it.value.to_string()),
        PropertyKey::NumericLiteral(it) => Some(it.value.to_string()),
        _ => None,
    }
}

/// The members of an enum whose values can be read, with these values.
fn enum_values(declaration: &TSEnumDeclaration<'_>) -> Vec<(String, Literal)> {
    let mut next = Some(0.0);
    let mut values = Vec::new();
    for member in &declaration.body.members {
        let value = match &member.initializer {
            None => next.map(Literal::Number),
            Some(Expression::NumericLiteral(it)) => Some(Literal::Number(it.value)),
            Some(Expression::StringLiteral(it)) => Some(Literal::String(it.value.to_string())),
            Some(_) => None,
        };
        next = match &value {
            Some(Literal::Number(number)) => Some(number + 1.0),
            _ => None,
        };
        if let Some(value) = value {
            values.push((member_name(&member.id), value));
        }
    }
    values
}
