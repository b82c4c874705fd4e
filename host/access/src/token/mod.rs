//! The tokens of a sign-in: a short access token for every request, and a refresh token for the next
//! pair.
//!
//! Both are JSON Web Tokens (RFC 7519), signed with HMAC-SHA-256 and a key of the installation. An
//! access token is checked without asking the database, which is why it lives for minutes only. A
//! refresh token names its generation: the database knows which one is the session's present one, so
//! that one that comes twice is noticed.
//!
//! No general library reads them. Ours have one algorithm, one header and one key, and compare the
//! header as a text: what a header may name (`none`, another algorithm, a key of the sender's choice)
//! is how such tokens have been forged elsewhere. Release 9 of `jsonwebtoken` has a known fault in its
//! claims (CVE-2026-25537); later ones want RSA and curves, a C library, or code like that in `jws`
//! and a global to put it in.

mod jws;

use std::{fmt, time::Duration};

use bulkhead_domain::{
    Timestamp,
    platform::{Session, SessionId, UserId},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Bytes of the key.
pub const KEY_BYTES: usize = 32;
/// How long an access token counts: what somebody can do with a stolen one, and who was signed out
/// or lost a right, ends by then.
pub const ACCESS_LIFETIME: Duration = Duration::from_secs(15 * 60);
/// How long a refresh token counts: who comes back once a month stays signed in.
pub const REFRESH_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a sign-in goes on at most, however often its tokens are renewed: who took a token over
/// unnoticed has it no longer than that, and who left a team in which nobody locked them out neither.
pub const SIGN_IN_LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// How far the clocks of servers that share a database may differ.
pub const LEEWAY: Duration = Duration::from_secs(5);
/// Bytes of a token that is looked at; ours have some 330.
pub const TOKEN_BYTES_MAX: usize = 1024;

const MICROS: i64 = 1_000_000;

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is no token of this form.
    #[error("the token is malformed")]
    Malformed,
    /// Another key signed it, or it was changed.
    #[error("the token was not made here")]
    Forged,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// It is a refresh token where an access token is due, or the other way round.
    #[error("the token is of another kind")]
    WrongKind,
}

/// What an access token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Whose it is.
    pub user: UserId,
    /// The sign-in that it belongs to.
    pub session: SessionId,
    /// When it was made, to the second.
    pub issued_at: Timestamp,
    /// When it ends, to the second.
    pub expires_at: Timestamp,
}

/// What a refresh token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refresh {
    /// Whose it is.
    pub user: UserId,
    /// The sign-in that it belongs to.
    pub session: SessionId,
    /// Which refresh token of the sign-in it is.
    pub generation: u32,
    /// When it ends, to the second.
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Access,
    Refresh,
}

/// What stands in a token. Times are seconds since the epoch.
#[derive(Serialize, Deserialize)]
struct Claims {
    typ: Kind,
    sub: UserId,
    sid: SessionId,
    /// Which refresh token of the session; in a refresh token alone.
    #[serde(rename = "gen", default, skip_serializing_if = "Option::is_none")]
    generation: Option<u32>,
    iat: i64,
    exp: i64,
}

/// The key that signs tokens and checks them. Wiped from memory when it is dropped.
pub struct TokenKey(Zeroizing<[u8; KEY_BYTES]>);

impl TokenKey {
    /// The key for tokens of an installation: one that is used for nothing else.
    pub fn new(key: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        Self(key)
    }

    /// An access token of this sign-in, from now on for [`ACCESS_LIFETIME`].
    pub fn access_token(&self, session: &Session, now: Timestamp) -> String {
        self.sign(&Claims {
            typ: Kind::Access,
            sub: session.user_id,
            sid: session.id,
            generation: None,
            iat: seconds(now),
            exp: seconds(after(now, ACCESS_LIFETIME)),
        })
    }

    /// The present refresh token of this sign-in, until the sign-in ends.
    pub fn refresh_token(&self, session: &Session) -> String {
        self.sign(&Claims {
            typ: Kind::Refresh,
            sub: session.user_id,
            sid: session.id,
            generation: Some(session.generation),
            iat: seconds(session.refreshed_at),
            exp: seconds(session.expires_at),
        })
    }

    /// What an access token says.
    ///
    /// # Errors
    ///
    /// [`TokenError`] where it does not count.
    pub fn check_access(&self, token: &str, now: Timestamp) -> Result<Access, TokenError> {
        let claims = self.check(token, Kind::Access, now)?;
        Ok(Access {
            user: claims.sub,
            session: claims.sid,
            issued_at: at(claims.iat),
            expires_at: at(claims.exp),
        })
    }

    /// What a refresh token says. Whether it is the session's present one, and whether there is such
    /// a session, the database knows.
    ///
    /// # Errors
    ///
    /// [`TokenError`] where it does not count.
    pub fn check_refresh(&self, token: &str, now: Timestamp) -> Result<Refresh, TokenError> {
        let claims = self.check(token, Kind::Refresh, now)?;
        Ok(Refresh {
            user: claims.sub,
            session: claims.sid,
            generation: claims.generation.ok_or(TokenError::Malformed)?,
            expires_at: at(claims.exp),
        })
    }

    fn sign(&self, claims: &Claims) -> String {
        let claims = serde_json::to_vec(claims).expect("ids, numbers and a word are JSON");
        jws::sign(&*self.0, &claims)
    }

    fn check(&self, token: &str, kind: Kind, now: Timestamp) -> Result<Claims, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::Malformed);
        }
        let claims = jws::verified(&*self.0, token)?;
        let claims: Claims = serde_json::from_slice(&claims).map_err(|_| TokenError::Malformed)?;
        if claims.typ != kind {
            return Err(TokenError::WrongKind);
        }
        if now >= after(at(claims.exp), LEEWAY) {
            return Err(TokenError::Expired);
        }
        Ok(claims)
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey(…)")
    }
}

/// When a refresh token ends that is made now; the sign-in ends with it.
pub fn refresh_expires_at(now: Timestamp) -> Timestamp {
    after(now, REFRESH_LIFETIME)
}

fn after(at: Timestamp, time: Duration) -> Timestamp {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(at.micros().saturating_add(micros))
}

fn seconds(at: Timestamp) -> i64 {
    at.micros().div_euclid(MICROS)
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds.saturating_mul(MICROS))
}

#[cfg(test)]
mod tests;
