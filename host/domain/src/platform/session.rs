//! Sign-ins, and the refresh tokens that follow each other in one.

use serde::{Deserialize, Serialize};

use super::{SessionId, UserId};
use crate::Timestamp;

/// One sign-in of a user: a family of refresh tokens, of which the last one is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The id; every token of the sign-in names it.
    pub id: SessionId,
    /// Who signed in.
    pub user_id: UserId,
    /// The number of the refresh token that is valid, from 0. Each use of it adds one.
    pub generation: u32,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When the present refresh token was made.
    pub refreshed_at: Timestamp,
    /// When it ends, unless it is used before.
    pub expires_at: Timestamp,
    /// When the session was ended: by signing out, by another password, or because a token that
    /// had been used came again.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
}

impl Session {
    /// A sign-in of this user, made now, whose first refresh token ends at `expires_at`.
    pub fn new(user_id: UserId, expires_at: Timestamp) -> Self {
        let now = Timestamp::now();
        Self {
            id: SessionId::random(),
            user_id,
            generation: 0,
            created_at: now,
            refreshed_at: now,
            expires_at,
            ended_at: None,
        }
    }

    /// Whether its tokens count at this time.
    pub fn is_living(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lives_until_it_expires_or_is_ended() {
        let end = Timestamp::from_micros(Timestamp::now().micros() + 1_000_000);
        let mut session = Session::new(UserId::random(), end);
        assert!(session.is_living(session.created_at));
        assert!(!session.is_living(end));
        session.ended_at = Some(session.created_at);
        assert!(!session.is_living(session.created_at));
    }
}
