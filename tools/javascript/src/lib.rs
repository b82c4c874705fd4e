//! The language runtime for tools that arrive as JavaScript or TypeScript.
//!
//! As a component it exports `source-runtime`; natively it is a library whose tests need no
//! sandbox. Every call gets a fresh engine, in which nothing of another call can be seen.
//!
//! - [`describe`]: a function's name, description and schema, read without running anything.
//! - [`call`]: runs the function. Arguments are data, matched to parameters and coerced to the
//!   types that the source declares.
//! - [`run`]: runs a script for the value of its last expression.
//!
//! - `source`: text to a tree, TypeScript to JavaScript with every line kept.
//! - `signature`: what a function takes, from types and documentation comments.
//! - `engine`: one run of the engine: programs, promises and timers, values, errors.
//! - `globals`: what is in scope beside the language: `console`, `fetch`, `URL`, timers ….
//! - [`host`]: what all of that asks of its host.

pub mod abi;
mod arguments;
mod call;
#[cfg(target_family = "wasm")]
mod component;
mod describe;
mod engine;
mod globals;
pub mod host;
mod outcome;
mod run;
mod signature;
mod source;
mod undefined_name;

pub use call::call;
pub use describe::describe;
pub use run::run;
