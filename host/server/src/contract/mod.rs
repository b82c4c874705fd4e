//! The wire contract of the V1 API, as its clients know it: how bodies are checked, and the words of
//! refusals that clients match on.
//!
//! - [`body`], [`check`]: request bodies against `bodies.json`, with the faults that clients parse.
//! - [`query`]: parameters of queries. [`scalar`], [`date`]: their texts as values.
//! - [`fault`]: what is wrong in a body or a query, as clients parse it.
//! - [`refusal`]: statuses and bodies of refusals.
//! - [`repr`]: values as Python writes them, which is what clients and models read.
//! - [`id`]: ids of the contract's form.
//! - [`document`]: what its routes have in common in the document of the API.

pub(crate) mod body;
mod check;
mod date;
pub(crate) mod document;
pub(crate) mod fault;
pub(crate) mod id;
pub(crate) mod query;
pub(crate) mod refusal;
pub(crate) mod repr;
pub(crate) mod scalar;

pub(crate) use self::{
    body::{Body, OptionalBody},
    query::Parameters,
    refusal::Refusal,
};
