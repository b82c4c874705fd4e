//! Who asked lately, so that most requests of people ask no database.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use bulkhead_domain::platform::{SessionId, User};
use parking_lot::Mutex;

/// How old may be what is known: so long counts the token of somebody who was signed out on another
/// server.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(3);
/// Sign-ins that are known at once; some kilobyte each.
const ENTRIES_MAX: usize = 10_000;

/// The users of sign-ins; none of a sign-in that does not count.
#[derive(Default)]
pub(crate) struct Known(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    generation: u64,
    users: HashMap<SessionId, (Instant, Option<User>)>,
}

/// When reading began: what was forgotten since then is not learnt from it.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    generation: u64,
    at: Instant,
}

impl Known {
    /// What is known of a sign-in.
    pub(crate) fn find(&self, session: SessionId) -> Option<Option<User>> {
        let entries = self.0.lock();
        let (at, user) = entries.users.get(&session)?;
        (at.elapsed() < MAX_AGE).then(|| user.clone())
    }

    /// Now, before something is read.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            generation: self.0.lock().generation,
            at: Instant::now(),
        }
    }

    /// Keeps what was read.
    pub(crate) fn learn(&self, moment: Moment, session: SessionId, user: Option<User>) {
        let mut entries = self.0.lock();
        if entries.generation != moment.generation {
            return;
        }
        if entries.users.len() >= ENTRIES_MAX {
            entries.users.retain(|_, (at, _)| at.elapsed() < MAX_AGE);
        }
        if entries.users.len() < ENTRIES_MAX {
            entries.users.insert(session, (moment.at, user));
        }
    }

    /// Forgets everything.
    pub(crate) fn forget(&self) {
        let mut entries = self.0.lock();
        entries.generation = entries.generation.wrapping_add(1);
        entries.users.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forgotten_while_it_was_read_is_not_learnt() {
        let known = Known::default();
        let session = SessionId::random();
        let before = known.moment();
        known.forget();
        known.learn(before, session, None);
        assert!(known.find(session).is_none());
        known.learn(known.moment(), session, Some(User::new("a@example.com")));
        assert!(known.find(session).is_some_and(|user| user.is_some()));
        known.forget();
        assert!(known.find(session).is_none());
    }

    #[test]
    fn there_is_an_end_to_what_is_known() {
        let known = Known::default();
        for _ in 0..ENTRIES_MAX + 10 {
            known.learn(known.moment(), SessionId::random(), None);
        }
        assert_eq!(known.0.lock().users.len(), ENTRIES_MAX);
    }
}
