//! The shape of one WIT value: its type with the names that JSON uses, bounded in size and depth.
//!
//! A shape is a tree of its own rather than wasmtime's [`Type`], because every call walks it:
//! here each name is already in its JSON form and nothing is counted or cloned on the way.

use wasmtime::component::{Type, types::ResultType};

use super::integer::Integer;

/// Nesting of one type. WIT types are not recursive, so this bounds every walk over a value too,
/// and with it the host's stack; real interfaces stay below ten.
pub(super) const MAX_TYPE_DEPTH: usize = 32;
/// Parts of one function's types together, written out. Types share parts, so a component of a
/// few hundred bytes can describe billions; a large hand-written interface has some hundred.
pub(super) const MAX_TYPE_PARTS: usize = 1_000;
/// Bytes of one WIT name; WebAssembly itself allows 100,000.
pub(super) const MAX_NAME_BYTES: usize = 128;

/// The property of a variant's JSON form that names the case.
pub(super) const TAG: &str = "tag";
/// The property of a variant's JSON form that holds the case's value.
pub(super) const VALUE: &str = "value";

/// A name in WIT (`max-length`) and in JSON (`max_length`).
///
/// Hyphens become underscores and nothing else changes. A WIT label has no underscores, so two
/// names of one type can't become the same one.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Name {
    pub(super) wit: String,
    pub(super) json: String,
}

impl Name {
    pub(super) fn new(wit: &str) -> Self {
        Self {
            wit: wit.to_owned(),
            json: wit.replace('-', "_"),
        }
    }
}

/// The names as JSON writes them.
pub(super) fn json_names(names: &[Name]) -> impl Iterator<Item = &str> + Clone {
    names.iter().map(|name| name.json.as_str())
}

/// A field of a record, or a parameter of a function.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Field {
    pub(super) name: Name,
    pub(super) shape: Shape,
}

/// A case of a variant.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Case {
    pub(super) name: Name,
    pub(super) shape: Option<Shape>,
}

#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) enum Shape {
    Bool,
    Integer(Integer),
    Float32,
    Float64,
    Char,
    String,
    /// `list<u8>`.
    Bytes,
    List(Box<Shape>),
    FixedList(Box<Shape>, usize),
    /// A map whose keys are strings: an object in JSON.
    Dictionary(Box<Shape>),
    /// Any other map: pairs in JSON.
    Map(Box<[Shape; 2]>),
    Record(Vec<Field>),
    Tuple(Vec<Shape>),
    Variant(Vec<Case>),
    /// The cases `ok` and `err`, in this order.
    Result(Box<[Case; 2]>),
    Enum(Vec<Name>),
    Option(Box<Shape>),
    /// An option whose value is an option as well. Its one case, `some`, keeps
    /// "some none" apart from "none".
    NestedOption(Box<Case>),
    Flags(Vec<Name>),
}

impl Shape {
    /// Whether `null` is one of its JSON values, so that a field of it may be left out.
    pub(super) fn is_optional(&self) -> bool {
        matches!(self, Self::Option(_) | Self::NestedOption(_))
    }
}

/// Why a type can't be a shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("it uses {0}, which has no JSON form")]
    Kind(&'static str),
    #[error("its types nest deeper than {MAX_TYPE_DEPTH} levels")]
    Depth,
    #[error("its types have more than {MAX_TYPE_PARTS} parts")]
    Parts,
    #[error("one of its names is longer than {MAX_NAME_BYTES} bytes")]
    Name,
}

/// Makes the shapes of one function, whose types share one budget of parts.
#[derive(Debug)]
pub(super) struct Shaper {
    depth: usize,
    parts: usize,
}

impl Shaper {
    pub(super) fn new() -> Self {
        Self { depth: 0, parts: 0 }
    }

    fn part(&mut self) -> Result<(), Refusal> {
        self.parts += 1;
        if self.parts > MAX_TYPE_PARTS {
            Err(Refusal::Parts)
        } else {
            Ok(())
        }
    }

    pub(super) fn name(&mut self, wit: &str) -> Result<Name, Refusal> {
        self.part()?;
        if wit.len() > MAX_NAME_BYTES {
            Err(Refusal::Name)
        } else {
            Ok(Name::new(wit))
        }
    }

    pub(super) fn shape(&mut self, ty: &Type) -> Result<Shape, Refusal> {
        self.part()?;
        if self.depth == MAX_TYPE_DEPTH {
            return Err(Refusal::Depth);
        }
        self.depth += 1;
        let shape = self.shape_of(ty);
        self.depth -= 1;
        shape
    }

    fn shape_of(&mut self, ty: &Type) -> Result<Shape, Refusal> {
        Ok(match ty {
            Type::Bool => Shape::Bool,
            Type::S8 => Shape::Integer(Integer::S8),
            Type::U8 => Shape::Integer(Integer::U8),
            Type::S16 => Shape::Integer(Integer::S16),
            Type::U16 => Shape::Integer(Integer::U16),
            Type::S32 => Shape::Integer(Integer::S32),
            Type::U32 => Shape::Integer(Integer::U32),
            Type::S64 => Shape::Integer(Integer::S64),
            Type::U64 => Shape::Integer(Integer::U64),
            Type::Float32 => Shape::Float32,
            Type::Float64 => Shape::Float64,
            Type::Char => Shape::Char,
            Type::String => Shape::String,
            Type::List(list) => match list.ty() {
                Type::U8 => Shape::Bytes,
                element => Shape::List(Box::new(self.shape(&element)?)),
            },
            Type::FixedLengthList(list) => {
                let length = usize::try_from(list.len()).map_err(|_| Refusal::Parts)?;
                Shape::FixedList(Box::new(self.shape(&list.ty())?), length)
            }
            Type::Map(map) => match map.key() {
                Type::String => Shape::Dictionary(Box::new(self.shape(&map.value())?)),
                key => Shape::Map(Box::new([self.shape(&key)?, self.shape(&map.value())?])),
            },
            Type::Record(record) => {
                Shape::Record(self.fields(record.fields().map(|field| (field.name, field.ty)))?)
            }
            Type::Tuple(tuple) => Shape::Tuple(
                tuple
                    .types()
                    .map(|ty| self.shape(&ty))
                    .collect::<Result<_, _>>()?,
            ),
            Type::Variant(variant) => Shape::Variant(
                variant
                    .cases()
                    .map(|case| self.case(case.name, case.ty.as_ref()))
                    .collect::<Result<_, _>>()?,
            ),
            Type::Enum(names) => Shape::Enum(self.names(names.names())?),
            Type::Flags(flags) => Shape::Flags(self.names(flags.names())?),
            Type::Option(option) => {
                let inner = self.shape(&option.ty())?;
                if inner.is_optional() {
                    let name = Name::new("some");
                    Shape::NestedOption(Box::new(Case {
                        name,
                        shape: Some(inner),
                    }))
                } else {
                    Shape::Option(Box::new(inner))
                }
            }
            Type::Result(result) => Shape::Result(Box::new(self.outcome(result)?)),
            Type::Own(_) | Type::Borrow(_) => return Err(Refusal::Kind("a resource")),
            Type::Future(_) => return Err(Refusal::Kind("a future")),
            Type::Stream(_) => return Err(Refusal::Kind("a stream")),
            Type::ErrorContext => return Err(Refusal::Kind("an error context")),
        })
    }

    pub(super) fn fields<'a>(
        &mut self,
        fields: impl Iterator<Item = (&'a str, Type)>,
    ) -> Result<Vec<Field>, Refusal> {
        fields
            .map(|(name, ty)| {
                Ok(Field {
                    name: self.name(name)?,
                    shape: self.shape(&ty)?,
                })
            })
            .collect()
    }

    /// The two cases of a result.
    pub(super) fn outcome(&mut self, result: &ResultType) -> Result<[Case; 2], Refusal> {
        Ok([
            self.case("ok", result.ok().as_ref())?,
            self.case("err", result.err().as_ref())?,
        ])
    }

    fn case(&mut self, name: &str, ty: Option<&Type>) -> Result<Case, Refusal> {
        let name = self.name(name)?;
        Ok(Case {
            name,
            shape: ty.map(|ty| self.shape(ty)).transpose()?,
        })
    }

    fn names<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<Vec<Name>, Refusal> {
        names.map(|name| self.name(name)).collect()
    }
}
