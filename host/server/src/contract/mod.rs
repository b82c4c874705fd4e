//! The wire contract of the V1 API, as its clients know it: how bodies are checked, and the words of
//! refusals that clients match on.
//!
//! - [`body`], [`check`]: request bodies against `bodies.json`, with the faults that clients parse.
//! - [`refusal`]: statuses and bodies of refusals.
//! - [`repr`]: values as Python writes them, which is what clients and models read.
//! - [`id`]: ids of the contract's form.

pub(crate) mod body;
mod check;
pub(crate) mod id;
pub(crate) mod refusal;
pub(crate) mod repr;

pub(crate) use self::{body::Body, refusal::Refusal};
