//! The function's parameters.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Expr, FnArg, Ident, Pat, PatType, Type};

use crate::docs;

/// What `#[args]` beside another parameter means.
const ALONE: &str = "`#[args]` makes one parameter the whole input: a tool with it has no other";

/// What the function takes.
pub(crate) enum Parameters {
    /// One struct that is the whole input (`#[args]`).
    Whole(Box<Type>),
    /// One property of the input for each.
    Each(Vec<Parameter>),
}

/// One parameter, which is one property of the input.
pub(crate) struct Parameter {
    name: Ident,
    ty: Type,
    description: String,
    default: Option<Expr>,
    /// `#[serde(…)]` and `#[schemars(…)]`, which go to the field.
    passed_on: Vec<Attribute>,
}

impl Parameters {
    /// Reads the parameters and takes from them every attribute that is meant for the macro, so
    /// that the function compiles afterwards. Reports everything that is wrong, not the first.
    pub(crate) fn take<'a>(inputs: impl Iterator<Item = &'a mut FnArg>) -> syn::Result<Self> {
        let mut each = Vec::new();
        let mut whole = None;
        let mut fault: Option<syn::Error> = None;
        let mut note = |error: syn::Error| match &mut fault {
            Some(fault) => fault.combine(error),
            None => fault = Some(error),
        };
        for input in inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    let message = "a tool is a plain function: it has no `self`";
                    note(syn::Error::new_spanned(receiver, message));
                }
                FnArg::Typed(typed) => {
                    let attributes = std::mem::take(&mut typed.attrs);
                    match read(typed, attributes) {
                        Ok(Read::Whole(ty)) if whole.is_none() => whole = Some(ty),
                        Ok(Read::Whole(ty)) => note(syn::Error::new_spanned(ty, ALONE)),
                        Ok(Read::One(parameter)) => each.push(*parameter),
                        Err(error) => note(error),
                    }
                }
            }
        }
        if whole.is_some()
            && let Some(other) = each.first()
        {
            note(syn::Error::new(other.name.span(), ALONE));
        }
        match (fault, whole) {
            (Some(fault), _) => Err(fault),
            (None, Some(whole)) => Ok(Self::Whole(whole)),
            (None, None) => Ok(Self::Each(each)),
        }
    }
}

impl Parameter {
    /// The parameter as a field of the input struct.
    pub(crate) fn field(&self) -> TokenStream {
        let Self {
            name,
            ty,
            description,
            passed_on,
            ..
        } = self;
        let doc = (!description.is_empty()).then(|| quote!(#[doc = #description]));
        let default = self.default.as_ref().map(|_| {
            let function = self.default_function().to_string();
            quote!(#[serde(default = #function)])
        });
        quote!(#doc #default #(#passed_on)* #name: #ty)
    }

    /// The function that gives the default, for serde.
    pub(crate) fn default(&self) -> Option<TokenStream> {
        let (ty, default, function) = (&self.ty, self.default.as_ref()?, self.default_function());
        Some(quote!(fn #function() -> #ty { #default }))
    }

    /// The name of the field.
    pub(crate) fn name(&self) -> &Ident {
        &self.name
    }

    fn default_function(&self) -> Ident {
        format_ident!("__bulkhead_default_{}", self.name)
    }
}

/// One parameter as it stands in the function.
enum Read {
    /// The whole input.
    Whole(Box<Type>),
    /// One property of it.
    One(Box<Parameter>),
}

fn read(typed: &PatType, attributes: Vec<Attribute>) -> syn::Result<Read> {
    check_type(&typed.ty)?;
    let description = docs::text(&attributes);
    let (mut whole, mut default, mut passed_on) = (false, None, Vec::new());
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("args") {
            attribute.meta.require_path_only()?;
            whole = true;
        } else if path.is_ident("default") {
            default = Some(attribute.parse_args::<Expr>()?);
        } else if path.is_ident("serde") || path.is_ident("schemars") {
            passed_on.push(attribute);
        } else if !path.is_ident("doc") {
            let message = "unknown attribute; on a parameter of a tool may stand a doc comment, `#[args]`, \
                           `#[default(…)]`, `#[serde(…)]` and `#[schemars(…)]`";
            return Err(syn::Error::new_spanned(&attribute, message));
        }
    }
    let ty = typed.ty.clone();
    if whole {
        return Ok(Read::Whole(ty));
    }
    match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
            let name = pat.ident.clone();
            Ok(Read::One(Box::new(Parameter {
                name,
                ty: *ty,
                description,
                default,
                passed_on,
            })))
        }
        pat => {
            let message =
                "a parameter of a tool is a plain name: it becomes a property of the input";
            Err(syn::Error::new_spanned(pat, message))
        }
    }
}

/// A tool owns its input: it is read from JSON that is gone before the function runs.
fn check_type(ty: &Type) -> syn::Result<()> {
    match ty {
        Type::Reference(_) => {
            let message = "a tool owns its input: take `String` for `&str`, `Vec<T>` for `&[T]`";
            Err(syn::Error::new_spanned(ty, message))
        }
        Type::ImplTrait(_) => {
            let message = "a tool's input has one schema: name the type";
            Err(syn::Error::new_spanned(ty, message))
        }
        _ => Ok(()),
    }
}
