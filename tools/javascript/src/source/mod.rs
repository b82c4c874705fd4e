//! From the text of a tool to JavaScript that the engine runs.
//!
//! - [`parse`]: text to a tree; what is wrong with it, with its line.
//! - [`strip`]: TypeScript to JavaScript, with [`statement`], [`classes`] and [`enums`].
//! - [`program`]: as which kind of program it runs.
//! - [`edits`], [`text`]: changes to a text, places in it.

mod classes;
mod edits;
mod enums;
pub(crate) mod parse;
pub(crate) mod program;
pub(crate) mod statement;
mod strip;
pub(crate) mod text;

pub(crate) use enums::member_name;
