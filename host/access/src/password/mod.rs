//! Passwords: how strong they must be, and their hashes.
//!
//! - [`strength`]: which passwords are refused; `hash`: Argon2id; `pool`: the threads on which both
//!   are computed.
//!
//! A password is compared and hashed in Unicode's composed form (NFC), since keyboards differ in
//! how they write an `é`. Nothing is cut off and no blanks are trimmed.

mod hash;
mod pool;
pub mod strength;

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

pub use hash::Verdict;
pub use pool::{Passwords, QUEUE_MAX, StartError};
pub use strength::{CHARACTERS_MAX, CHARACTERS_MIN, Weakness};

/// Bytes of a password that are looked at, as it comes: the longest one, of the widest characters,
/// each with marks that are composed with it.
const BYTES_MAX: usize = 4 << 10;
/// Bytes that one byte may become when it is composed, as Unicode promises.
const COMPOSED_GROWTH: usize = 3;

/// A password as somebody gave it. Wiped from memory when it is dropped, and shown nowhere.
///
/// One that is too long to be anybody's is kept as such: it fits no hash, and is refused as a new
/// one.
#[derive(Clone)]
pub struct Password {
    text: Zeroizing<String>,
    is_too_long: bool,
}

impl Password {
    /// What somebody gave as their password.
    pub fn new(given: impl Into<String>) -> Self {
        let given = Zeroizing::new(given.into());
        let is_too_long = given.len() > BYTES_MAX;
        let mut text = Zeroizing::new(String::new());
        if !is_too_long {
            // Growing would leave copies behind that nobody wipes.
            text.reserve_exact(COMPOSED_GROWTH * given.len());
            text.extend(given.nfc());
        }
        Self { text, is_too_long }
    }

    fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// A password was not hashed or compared.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PasswordError {
    /// It may not be anybody's new password; the text is for the person.
    #[error(transparent)]
    Weak(#[from] Weakness),
    /// Too many are waiting already; the same call may succeed in some seconds.
    #[error("too many passwords are being checked; try again in some seconds")]
    Busy,
    /// The stored hash is none, or asks for more than any that was made here.
    #[error("the stored hash of a password cannot be read")]
    Stored,
    /// The system gave no random bytes.
    #[error("the system gave no random bytes")]
    Random(#[from] getrandom::Error),
    /// The computation ended by itself: memory, or a defect.
    #[error("a password could not be hashed")]
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_write_a_letter_are_one_password() {
        let composed = Password::new("Caf\u{e9} au lait");
        let decomposed = Password::new("Cafe\u{301} au lait");
        assert_eq!(composed.bytes(), decomposed.bytes());
        assert_ne!(composed.bytes(), Password::new("Cafe au lait").bytes());
        assert_ne!(
            composed.bytes(),
            Password::new("Caf\u{e9} au lait ").bytes()
        );
    }

    #[test]
    fn no_password_is_shown() {
        let shown = format!("{:?}", Password::new("correct horse"));
        assert!(!shown.contains("horse"), "{shown}");
    }
}
