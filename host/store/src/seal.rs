//! Encryption of secrets at rest: XChaCha20-Poly1305, a random nonce before each ciphertext.
//!
//! The associated data binds a ciphertext to everything that decides where its secret may go,
//! so that whoever can write to the database can neither swap two secrets nor point one
//! elsewhere.

use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use zeroize::Zeroizing;

use crate::{InstallationKey, Result, StoreError};

const NONCE_BYTES: usize = 24;
const KEY_CHECK: &[u8] = b"bulkhead installation key check 1";

/// Seals and opens with a key that is derived from the installation's.
pub(crate) struct Sealer(XChaCha20Poly1305);

impl Sealer {
    pub(crate) fn new(key: &InstallationKey) -> Self {
        let key = key.derive("bulkhead sealed credentials 1");
        Self(XChaCha20Poly1305::new((&*key).into()))
    }

    /// The nonce and the ciphertext of `secret`, bound to `parts`.
    pub(crate) fn seal(&self, secret: &[u8], parts: &[&str]) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let payload = Payload {
            msg: secret,
            aad: &associated(parts),
        };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| StoreError::Invalid {
            what: "the secret",
            reason: "is longer than the cipher takes",
        })?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// The secret; none where the bytes were not sealed with this key and these `parts`.
    pub(crate) fn open(&self, sealed: &[u8], parts: &[&str]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload {
            msg: sealed,
            aad: &associated(parts),
        };
        self.0
            .decrypt(&XNonce::from(*nonce), payload)
            .ok()
            .map(Zeroizing::new)
    }

    /// A value by which [`Self::is_key_check`] recognises this key.
    pub(crate) fn key_check(&self) -> Result<Vec<u8>> {
        self.seal(KEY_CHECK, &["key check"])
    }

    pub(crate) fn is_key_check(&self, sealed: &[u8]) -> bool {
        self.open(sealed, &["key check"])
            .is_some_and(|text| *text == KEY_CHECK)
    }
}

/// Each part with its length before it, so that no two lists of parts look the same.
fn associated(parts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_parts_open_what_was_sealed() {
        let sealer = Sealer::new(&InstallationKey::generate().unwrap());
        let other = Sealer::new(&InstallationKey::generate().unwrap());
        let mut sealed = sealer.seal(b"secret", &["ab", "c"]).unwrap();
        assert_eq!(**sealer.open(&sealed, &["ab", "c"]).unwrap(), *b"secret");
        assert!(sealer.open(&sealed, &["a", "bc"]).is_none());
        assert!(other.open(&sealed, &["ab", "c"]).is_none());
        assert!(sealer.open(&sealed[..10], &["ab", "c"]).is_none());
        assert_ne!(
            sealer.seal(b"secret", &["ab", "c"]).unwrap(),
            sealed,
            "nonces are random"
        );
        *sealed.last_mut().unwrap() ^= 1;
        assert!(sealer.open(&sealed, &["ab", "c"]).is_none());
    }
}
