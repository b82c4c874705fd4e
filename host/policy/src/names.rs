//! Sets of names in which `*` stands for every name.

use std::collections::BTreeSet;

use crate::capabilities::ANY;

/// The names that are in both sets.
pub(crate) fn meet(a: &BTreeSet<String>, b: &BTreeSet<String>) -> BTreeSet<String> {
    if a.contains(ANY) {
        b.clone()
    } else if b.contains(ANY) {
        a.clone()
    } else {
        a & b
    }
}

/// The names of a grant that a wish asks for, where a grant names one by one and only a wish may
/// say `*`: it asks for whatever is granted.
pub(crate) fn wished(grant: &BTreeSet<String>, wish: &BTreeSet<String>) -> BTreeSet<String> {
    if wish.contains(ANY) {
        grant.clone()
    } else {
        grant & wish
    }
}

/// Whether every name of `inner` is in `outer`.
pub(crate) fn cover(outer: &BTreeSet<String>, inner: &BTreeSet<String>) -> bool {
    outer.contains(ANY) || inner.is_subset(outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_star_of_a_wish_asks_for_what_is_granted_and_one_of_a_grant_gives_nothing() {
        assert_eq!(wished(&set(&["a", "b"]), &set(&["*"])), set(&["a", "b"]));
        assert_eq!(wished(&set(&["*"]), &set(&["a"])), set(&[]));
        assert_eq!(wished(&set(&["a"]), &set(&["a", "b"])), set(&["a"]));
    }

    #[test]
    fn a_star_stands_for_every_name() {
        assert_eq!(meet(&set(&["*"]), &set(&["a"])), set(&["a"]));
        assert_eq!(meet(&set(&["a", "b"]), &set(&["*"])), set(&["a", "b"]));
        assert_eq!(meet(&set(&["*"]), &set(&["*"])), set(&["*"]));
        assert_eq!(meet(&set(&["a", "b"]), &set(&["b", "c"])), set(&["b"]));
        assert!(cover(&set(&["*"]), &set(&["a", "*"])));
        assert!(!cover(&set(&["a"]), &set(&["*"])));
        assert!(cover(&set(&[]), &set(&[])));
    }
}
