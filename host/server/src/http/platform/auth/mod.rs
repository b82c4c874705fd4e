//! Accounts, sign-ins and the tokens of them.
//!
//! - [`register`]: an account. [`sign_in`]: tokens for a password or for the token before, and their end.

pub(crate) mod register;
pub(crate) mod sign_in;

use std::time::Instant;

use bulkhead_access::{Attempt, PasswordError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    http::{
        error::{self, Rejection},
        observe::Peer,
    },
};

/// What was done, for people.
#[derive(Serialize, ToSchema)]
pub(crate) struct DoneView {
    pub(crate) message: &'static str,
}

/// A try of a password, where it is not one too many.
pub(super) fn attempt(app: &App, address: &str, peer: &Peer) -> Result<Attempt, Rejection> {
    let attempt = app
        .platform
        .throttle
        .attempt(address, peer.0, Instant::now());
    attempt.map_err(|refused| {
        Rejection::with(&error::TOO_MANY_ATTEMPTS, refused.to_string())
            .retry_after(refused.seconds())
    })
}

/// Why a password was not taken, at a field of the body.
pub(super) fn refused(error: PasswordError, field: &str) -> Rejection {
    match error {
        PasswordError::Weak(weakness) => {
            let text = weakness.to_string();
            Rejection::with(&error::WEAK_PASSWORD, text.clone()).at(format!("/{field}"), text)
        }
        PasswordError::Busy => Rejection::with(&error::OVERLOADED, error.to_string()),
        error => Rejection::host(&error),
    }
}
