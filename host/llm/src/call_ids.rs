//! Ids of calls within one answer: every call has one, and no two are the same.

use uuid::Uuid;

/// What ids begin with that were made here.
pub(crate) const MADE: &str = "call_";

/// The ids of an answer's calls so far.
#[derive(Debug, Default)]
pub(crate) struct CallIds(Vec<String>);

impl CallIds {
    /// The id of the next call: the provider's own, unless it gave none or one that is taken.
    pub(crate) fn claim(&mut self, given: Option<&str>) -> String {
        let own = given.filter(|id| !id.is_empty() && !self.0.iter().any(|known| known == id));
        let id = match own {
            Some(id) => id.to_owned(),
            None => format!("{MADE}{}", Uuid::new_v4().simple()),
        };
        self.0.push(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_repeated_ids_become_ids_of_their_own() {
        let mut ids = CallIds::default();
        let claimed = [Some("a"), Some("a"), None, Some("")].map(|id| ids.claim(id));
        assert_eq!(claimed[0], "a");
        assert!(claimed[1..].iter().all(|id| id.starts_with(MADE)));
        assert!(claimed[1] != claimed[2] && claimed[2] != claimed[3]);
    }
}
