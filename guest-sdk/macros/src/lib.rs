//! The `#[tool]` attribute of `bulkhead-sdk`; use it through that crate.
//!
//! The attribute turns a plain function into a tool: it reads the doc comments, the signature
//! and its own literals, and writes a declaration (name, description, schemas, hints) beside
//! the function, which itself stays as it was. Wishes go to a custom section of the component,
//! where they can be read without running it.
//!
//! - [`attribute`]: what stands in `#[tool(…)]`.
//! - [`wishes`]: the capabilities that `wishes(…)` names.
//! - [`parameters`]: the function's parameters.
//! - [`docs`]: doc comments as text.
//! - [`expand`]: the code that comes out.

mod attribute;
mod docs;
mod expand;
mod parameters;
mod wishes;

use proc_macro::TokenStream;

/// Makes a tool of a function. Its doc comment is the description that a model reads, doc
/// comments on its parameters describe them, its return type becomes the output.
///
/// # What may stand in the parentheses
///
/// - `name = "…"`: another name than the function's; letters, digits, `_` and `-`, at most 64.
/// - `title = "…"`: a name for people.
/// - `read_only`, `destructive`, `idempotent`, `open_world`: hints for clients and approval.
/// - `wishes(…)`: the capabilities that a person may grant to it: `http("https://host/path/",
///   "*.example.org")`, `credentials("name")`, `reveal("name")`, `state`,
///   `memory("label", write)`, `recall`, `files`, `agents("id")`, `peers("tool")`,
///   `env("NAME")`, `folders("/data", write)`.
///
/// # What may stand on a parameter
///
/// - a doc comment: its description;
/// - `#[default(expression)]`: what it is when the caller leaves it out (an `Option` may be
///   left out anyway);
/// - `#[args]`, on the only parameter: its type is the whole input, and derives `Deserialize`
///   and `JsonSchema`;
/// - `#[serde(…)]` and `#[schemars(…)]`, as on a field of a struct.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(attribute.into(), item.into()).into()
}
