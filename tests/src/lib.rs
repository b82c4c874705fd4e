//! Tests that cross crates; everything is in this package's test programs.
//!
//! - `server/`: the real server on a free port, spoken to over HTTP.
