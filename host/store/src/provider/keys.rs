//! The keys of a provider, sealed.

use zeroize::Zeroizing;

use super::ProviderRecord;
use crate::{Result, StoreError, check, seal::Sealer};

/// Bytes of one key; some are documents with a private key in them.
pub const KEY_MAX: usize = 64 << 10;

/// The keys of a provider. Never printed, wiped from memory when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderKeys {
    /// Its key. Empty for one that needs none.
    pub api_key: Zeroizing<String>,
    /// Its second key, of those that have two.
    pub access_key: Option<Zeroizing<String>>,
}

impl std::fmt::Debug for ProviderKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderKeys").finish_non_exhaustive()
    }
}

impl ProviderKeys {
    /// Both as one sealed value: whether there is a second one, the length of the first, each.
    pub(super) fn seal(&self, sealer: &Sealer, provider: &ProviderRecord) -> Result<Vec<u8>> {
        let second = self.access_key.as_ref();
        for key in [Some(&self.api_key), second].into_iter().flatten() {
            check::text("the provider's key", key, KEY_MAX)?;
        }
        let mut plain = Zeroizing::new(Vec::with_capacity(2 * KEY_MAX + 9));
        plain.push(u8::from(second.is_some()));
        plain.extend_from_slice(&(self.api_key.len() as u64).to_le_bytes());
        plain.extend_from_slice(self.api_key.as_bytes());
        plain.extend_from_slice(second.map_or(b"", |key| key.as_bytes()));
        let id = provider.id.to_string();
        sealer.seal(&plain, &bound(&id, provider))
    }

    pub(super) fn open(sealer: &Sealer, provider: &ProviderRecord, sealed: &[u8]) -> Result<Self> {
        let corrupt = || StoreError::Corrupt {
            what: "keys of a provider",
            source: None,
        };
        let id = provider.id.to_string();
        let plain = sealer.open(sealed, &bound(&id, provider));
        let plain = plain.ok_or_else(corrupt)?;
        let (has_second, rest) = plain.split_first().ok_or_else(corrupt)?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(corrupt)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| corrupt())?;
        let (first, second) = rest.split_at_checked(length).ok_or_else(corrupt)?;
        let text = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).map_err(|_| corrupt())?;
            Ok::<_, StoreError>(Zeroizing::new(text.to_owned()))
        };
        Ok(Self {
            api_key: text(first)?,
            access_key: (*has_second != 0).then(|| text(second)).transpose()?,
        })
    }
}

/// What decides where the keys are sent.
fn bound<'a>(id: &'a str, provider: &'a ProviderRecord) -> [&'a str; 5] {
    let base_url = provider.base_url.as_deref().unwrap_or_default();
    let region = provider.region.as_deref().unwrap_or_default();
    ["provider", id, &provider.provider_type, base_url, region]
}
