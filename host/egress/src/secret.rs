//! A secret: wiped when dropped, never printed.

use std::fmt;

use zeroize::Zeroizing;

/// Bytes that a secret has at least. A shorter one stands in ordinary text by chance, so that
/// searching for it would break honest requests and reveal by breaking them; and it could be
/// guessed anyway.
pub const MIN_SECRET_BYTES: usize = 8;

/// Bytes that a secret has at most: room for signed tokens with many claims, and no more than a
/// header that servers accept.
pub const MAX_SECRET_BYTES: usize = 4096;

/// A secret. It is wiped from memory when dropped; copies in a request that is being sent and in
/// the tables that search for it are not.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

/// A text that can be no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// Shorter than [`MIN_SECRET_BYTES`].
    #[error(
        "a secret has at least {MIN_SECRET_BYTES} bytes; a shorter one can't be told from text"
    )]
    TooShort,
    /// Longer than [`MAX_SECRET_BYTES`].
    #[error("a secret has at most {MAX_SECRET_BYTES} bytes")]
    TooLong,
}

impl Secret {
    /// Takes the text of a secret.
    pub fn new(text: impl Into<String>) -> Result<Self, SecretError> {
        let text = Zeroizing::new(text.into());
        match text.len() {
            ..MIN_SECRET_BYTES => Err(SecretError::TooShort),
            MIN_SECRET_BYTES..=MAX_SECRET_BYTES => Ok(Self(text)),
            _ => Err(SecretError::TooLong),
        }
    }

    /// The text. For what puts it into a request, and for the grant `reveal`.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::new("hunter2hunter2").expect("a secret");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn a_secret_of_odd_size_is_refused() {
        assert_eq!(Secret::new("short"), Err(SecretError::TooShort));
        assert_eq!(
            Secret::new("x".repeat(MAX_SECRET_BYTES + 1)),
            Err(SecretError::TooLong)
        );
    }
}
