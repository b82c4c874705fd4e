//! The two drivers behind one set of statements.
//!
//! - `statement`: a statement's text with `$n` placeholders, and its typed values.
//! - `row`: reads a row of either driver.
//! - `database`: the pools, reading, and the start of a transaction.
//! - `checkpoint`: SQLite's log. `transaction`: all that writes. `clock`: the time, as the database has it.
//! - `migration`: the schema and its versions.

mod checkpoint;
mod clock;
mod database;
mod migration;
mod row;
mod statement;
mod transaction;

pub(crate) use clock::micros;
pub use database::Options;
pub(crate) use database::{Database, Durability};
pub(crate) use row::Row;
pub(crate) use statement::{Argument, Statement};
pub(crate) use transaction::Transaction;
