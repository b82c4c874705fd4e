//! Tests that cross crates; everything is in this package's test programs.
//!
//! - `store/`: every statement of SQL, on SQLite and on Postgres.
//! - `server/`: the real server on a free port, spoken to over HTTP.
