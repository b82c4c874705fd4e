//! Granted folders, against guests that try everything to leave them, fill them or hang on them.
//!
//! Every hostile call runs beside a neighbour's call on a folder of its own, which must succeed.

mod escapes;
mod kinds;
mod limits;
mod place;
mod rights;
mod uses;
