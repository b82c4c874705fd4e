//! The secret key of an installation: seals credentials, and everything else that only this
//! installation may make.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

/// A file of a key is its hex digits and a newline; longer ones are refused before reading on.
const KEY_FILE_MAX: u64 = 1024;

/// 32 random bytes that belong to one installation. Wiped from memory when dropped.
#[derive(Clone)]
pub struct InstallationKey(Zeroizing<[u8; KEY_BYTES]>);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is no key.
    #[error("an installation key is written as 64 hex digits")]
    Malformed,
    /// The file at this path holds no key.
    #[error("{} does not hold an installation key (64 hex digits)", .0.display())]
    MalformedFile(PathBuf),
    /// The file could not be read or made.
    #[error("cannot use the key file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes")]
    Random(#[source] getrandom::Error),
}

impl InstallationKey {
    /// A new, random key.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(&mut *bytes).map_err(KeyError::Random)?;
        Ok(Self(bytes))
    }

    /// The key that 64 hex digits spell; surrounding white space is ignored.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        hex::decode_to_slice(text.trim(), &mut *bytes).map_err(|_| KeyError::Malformed)?;
        Ok(Self(bytes))
    }

    /// The key in the file, which is made with a random one, mode 0600, where it is missing.
    ///
    /// The file appears complete or not at all, and of several processes that make it at once
    /// all get the same key.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File {
            path: path.to_owned(),
            source,
        };
        match Self::load(path) {
            Err(KeyError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            loaded => return loaded,
        }
        let key = Self::generate()?;
        match key.create(path) {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path),
            Err(error) => Err(failed(error)),
        }
    }

    fn load(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File {
            path: path.to_owned(),
            source,
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.len() > KEY_FILE_MAX {
            return Err(KeyError::MalformedFile(path.to_owned()));
        }
        warn_if_others_can_read(path, &metadata);
        let text = Zeroizing::new(fs::read(path).map_err(failed)?);
        let text = std::str::from_utf8(&text).map_err(|_| KeyError::Malformed);
        text.and_then(Self::from_hex)
            .map_err(|_| KeyError::MalformedFile(path.to_owned()))
    }

    /// Writes a neighbour and links it into place, which fails where the name is taken.
    fn create(&self, path: &Path) -> io::Result<()> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder)?;
        let draft = folder.join(format!(".installation-key-{}", uuid::Uuid::new_v4()));
        let linked = self
            .write(&draft)
            .and_then(|()| fs::hard_link(&draft, path));
        let removed = fs::remove_file(&draft);
        linked.and(removed)?;
        fs::File::open(folder)?.sync_all()
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let mut text = Zeroizing::new(hex::encode(*self.0));
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// A key for one purpose, so that no two uses share key material: HMAC-SHA-256 of the
    /// purpose under this key.
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; KEY_BYTES]> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes a key of any length");
        mac.update(purpose.as_bytes());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }
}

impl std::fmt::Debug for InstallationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InstallationKey(…)")
    }
}

/// A mounted secret often cannot have mode 0600, so this is said and not refused.
#[cfg(unix)]
fn warn_if_others_can_read(path: &Path, metadata: &fs::Metadata) {
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others can read the installation key; chmod 600 it");
    }
}

#[cfg(not(unix))]
fn warn_if_others_can_read(_: &Path, _: &fs::Metadata) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_made_once_private_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/key");
        let first = InstallationKey::load_or_create(&path).unwrap();
        let again = InstallationKey::load_or_create(&path).unwrap();
        assert_eq!(first.0, again.0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        let files = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(files, 1, "no draft is left behind");
    }

    #[test]
    fn many_that_make_the_key_at_once_get_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let make = || InstallationKey::load_or_create(&path).unwrap().0;
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn a_file_without_a_key_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for content in ["", "zz", &"a".repeat(63), &"a".repeat(5_000)] {
            fs::write(&path, content).unwrap();
            let error = InstallationKey::load_or_create(&path).unwrap_err();
            assert!(
                matches!(error, KeyError::MalformedFile(_)),
                "{content:?}: {error}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
    }

    #[test]
    fn purposes_have_different_keys_and_nothing_prints_one() {
        let key = InstallationKey::from_hex(&"ab".repeat(KEY_BYTES)).unwrap();
        assert_ne!(key.derive("a"), key.derive("b"));
        assert_eq!(key.derive("a"), key.clone().derive("a"));
        assert!(!format!("{key:?}").contains("ab"));
    }
}
