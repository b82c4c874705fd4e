//! What storing by name left.

/// An entry that was stored by its name, and whether that name was free before.
#[derive(Debug, Clone, PartialEq)]
pub struct Upserted<T> {
    /// The entry as it is now.
    pub record: T,
    /// Whether it was made, and not put in place of one that was there.
    pub is_new: bool,
}
