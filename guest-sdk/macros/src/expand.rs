//! The code that comes out.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, ItemFn, ReturnType, Type, ext::IdentExt, spanned::Spanned};

use crate::{
    attribute::{ToolAttribute, check_name},
    docs,
    parameters::Parameters,
};

/// The function as it was, and its declaration beside it. What is wrong comes out as compile
/// errors, together with the function if it can stand alone, so that nothing else is reported
/// for want of it.
pub(crate) fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let message = "#[tool] stands on a function with a body";
            let first = item
                .into_iter()
                .next()
                .map_or_else(|| error.span(), |token| token.span());
            return syn::Error::new(first, message).into_compile_error();
        }
    };
    let parameters = Parameters::take(function.sig.inputs.iter_mut());
    match declaration(attribute, &function, parameters) {
        Ok(declaration) => quote!(#function #declaration),
        Err(error) if function.sig.receiver().is_some() => error.into_compile_error(),
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#[allow(unused)] #function #error)
        }
    }
}

fn declaration(
    attribute: TokenStream,
    function: &ItemFn,
    parameters: syn::Result<Parameters>,
) -> syn::Result<TokenStream> {
    let attribute: ToolAttribute = syn::parse2(attribute)?;
    check_signature(function)?;
    let parameters = parameters?;
    let name = tool_name(&attribute, &function.sig.ident)?;
    let description = docs::text(&function.attrs);
    if description.is_empty() {
        let message =
            "a tool needs a doc comment: it is the description by which a model decides to call it";
        return Err(syn::Error::new(function.sig.ident.span(), message));
    }

    let (vis, ident) = (&function.vis, &function.sig.ident);
    let (input, prelude, arguments) = input(&parameters);
    let output = output_type(&function.sig.output);
    let as_output = quote_spanned!(output.span()=> <#output as __sdk::IntoOutput>);
    let title = match &attribute.title {
        Some(title) => quote!(::core::option::Option::Some(#title)),
        None => quote!(::core::option::Option::None),
    };
    let ToolAttribute {
        read_only,
        destructive,
        idempotent,
        open_world,
        ..
    } = attribute;
    let line = attribute.wishes.line(&name);
    let section = line.as_deref().map(section);
    let wishes = line.unwrap_or_default();

    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #ident {}

        const _: () = {
            use ::bulkhead_sdk::__private as __sdk;
            #prelude
            impl __sdk::Declared for #ident {
                const TOOL: __sdk::Tool = __sdk::Tool {
                    name: #name,
                    description: #description,
                    hints: __sdk::Hints {
                        title: #title,
                        read_only: #read_only,
                        destructive: #destructive,
                        idempotent: #idempotent,
                        open_world: #open_world,
                    },
                    wishes: #wishes,
                    input_schema: __sdk::input_schema::<#input>,
                    output_schema: #as_output::output_schema,
                    run: |__input| {
                        let __input: #input = __sdk::parse_input(__input)?;
                        #as_output::into_output(#ident(#arguments))
                    },
                };
            }
            #section
        };
    })
}

/// The type of the input, what declares it, and the arguments made from a value `__input` of it.
fn input(parameters: &Parameters) -> (TokenStream, TokenStream, TokenStream) {
    match parameters {
        Parameters::Whole(ty) => (quote!(#ty), TokenStream::new(), quote!(__input)),
        Parameters::Each(each) => {
            let fields = each.iter().map(|parameter| parameter.field());
            let defaults = each.iter().filter_map(|parameter| parameter.default());
            let names = each.iter().map(|parameter| parameter.name());
            let prelude = quote! {
                #[derive(__sdk::serde::Deserialize, __sdk::schemars::JsonSchema)]
                #[serde(crate = "::bulkhead_sdk::__private::serde", deny_unknown_fields)]
                #[schemars(crate = "::bulkhead_sdk::__private::schemars")]
                struct __BulkheadInput { #(#fields,)* }
                #(#defaults)*
            };
            (
                quote!(__BulkheadInput),
                prelude,
                quote!(#(__input.#names),*),
            )
        }
    }
}

/// A line of the custom section. The linker joins sections of one name.
fn section(line: &str) -> TokenStream {
    let length = line.len();
    let bytes = Literal::byte_string(line.as_bytes());
    quote! {
        #[cfg(target_family = "wasm")]
        #[used]
        #[unsafe(link_section = "bulkhead:wishes")]
        static __BULKHEAD_WISHES: [u8; #length] = *#bytes;
    }
}

fn tool_name(attribute: &ToolAttribute, ident: &Ident) -> syn::Result<String> {
    if let Some(name) = &attribute.name {
        return Ok(name.value());
    }
    let name = ident.unraw().to_string();
    check_name(&name).map_err(|text| {
        let message = format!("{text}; give it another one with `#[tool(name = \"…\")]`");
        syn::Error::new(ident.span(), message)
    })?;
    Ok(name)
}

fn output_type(output: &ReturnType) -> Type {
    match output {
        ReturnType::Default => syn::parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    }
}

fn check_signature(function: &ItemFn) -> syn::Result<()> {
    let sig = &function.sig;
    if let Some(token) = &sig.asyncness {
        let message = "a tool is no async function: calls to the host block the guest, and the host runs other guests meanwhile";
        return Err(syn::Error::new(token.span, message));
    }
    if let Some(token) = &sig.unsafety {
        return Err(syn::Error::new(
            token.span,
            "a tool is no unsafe function: a model calls it",
        ));
    }
    if !sig.generics.params.is_empty() {
        let message = "a tool has no generics: its input has one schema";
        return Err(syn::Error::new_spanned(&sig.generics, message));
    }
    if let Some(clause) = &sig.generics.where_clause {
        return Err(syn::Error::new_spanned(
            clause,
            "a tool has no generics: its input has one schema",
        ));
    }
    if let Some(token) = &sig.variadic {
        return Err(syn::Error::new_spanned(
            token,
            "a tool names its parameters",
        ));
    }
    Ok(())
}
