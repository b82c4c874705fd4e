//! People who sign in.

use serde::{Deserialize, Serialize};

use super::UserId;
use crate::Timestamp;

/// A person who signs in. The hash of the password is no part of it: who has a `User` can show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The id.
    pub id: UserId,
    /// The address, as [`super::email::normalised`] gives it. No other user has it.
    pub email: String,
    /// The given name; may be empty.
    pub first_name: String,
    /// The family name; may be empty.
    pub last_name: String,
    /// Whether everything is allowed, agent types and other people's projects included.
    pub is_superuser: bool,
    /// Whether signing in is allowed.
    pub is_active: bool,
    /// When the user was made.
    pub created_at: Timestamp,
    /// When the user, or the password, was changed last.
    pub updated_at: Timestamp,
}

impl User {
    /// An active user without rights beyond the own projects, made now. `email` is normalised
    /// already.
    pub fn new(email: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: UserId::random(),
            email: email.into(),
            first_name: String::new(),
            last_name: String::new(),
            is_superuser: false,
            is_active: true,
            created_at: now,
            updated_at: now,
        }
    }
}
