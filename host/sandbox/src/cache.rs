//! Compiled artifacts on disk: authenticated, bounded, evicted by least recent use.
//!
//! wasmtime's `deserialize` trusts its input with the whole process, so an artifact is read
//! only if it carries a MAC (HMAC-SHA256, RFC 2104) under a key of this installation. The MAC
//! covers the component's digest and the engine's compatibility hash too: an artifact can't
//! be passed off as another component's or another version's. The bytes that were checked are
//! the bytes that are deserialised; the file is not looked at again.

use std::{
    fmt, fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use bulkhead_domain::Digest;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wasmtime::{Engine, component::Component};

use crate::{Settings, SetupError};

/// Begins every artifact; the last byte is the version of this layout.
const MAGIC: &[u8; 8] = b"bulkhd\0\x01";
const MAC_BYTES: usize = 32;
const HEADER_BYTES: usize = MAGIC.len() + MAC_BYTES;
const EXTENSION: &str = "cwasm";

/// The key of this installation by which artifacts are authenticated. 32 random bytes.
#[derive(Clone)]
pub struct CacheKey([u8; 32]);

/// The file of the cache key can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the cache key {path} can't be used: {reason}")]
pub struct CacheKeyError {
    path: String,
    reason: String,
}

impl CacheKey {
    /// A key of these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads the key, or makes a random one with mode 0600 where there is none. Two processes
    /// that start at once end with the same key.
    pub fn load_or_create(path: &Path) -> Result<Self, CacheKeyError> {
        let error = |reason: String| CacheKeyError {
            path: path.display().to_string(),
            reason,
        };
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|source| error(source.to_string()))?;
        // Written under another name first: nobody sees half a key.
        let fresh = path.with_extension(format!("{}.tmp", std::process::id()));
        let made = private_file(&fresh).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::hard_link(&fresh, path)
        });
        let removed = fs::remove_file(&fresh);
        match made {
            Ok(()) => removed
                .map(|()| Self(bytes))
                .map_err(|source| error(source.to_string())),
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {
                let found = fs::read(path).map_err(|source| error(source.to_string()))?;
                let bytes = found.try_into().map_err(|_| {
                    error("it must have 32 bytes; delete it to make another".into())
                })?;
                Ok(Self(bytes))
            }
            Err(source) => Err(error(source.to_string())),
        }
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheKey(…)")
    }
}

/// The folder of compiled artifacts, or none.
pub(crate) struct Cache {
    place: Option<Place>,
    hits: AtomicU64,
    misses: AtomicU64,
}

struct Place {
    folder: PathBuf,
    key: CacheKey,
    compatibility: u64,
    max_bytes: u64,
}

impl Cache {
    pub(crate) fn open(settings: &Settings, engine: &Engine) -> Result<Self, SetupError> {
        let place = match (&settings.cache_dir, &settings.cache_key) {
            (Some(folder), Some(key)) => {
                private_folder(folder).map_err(|source| SetupError::Cache {
                    path: folder.display().to_string(),
                    source,
                })?;
                let mut hasher = DefaultHasher::new();
                engine.precompile_compatibility_hash().hash(&mut hasher);
                Some(Place {
                    folder: folder.clone(),
                    key: key.clone(),
                    compatibility: hasher.finish(),
                    max_bytes: settings.cache_max_bytes,
                })
            }
            _ => None,
        };
        Ok(Self {
            place,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        })
    }

    /// Artifacts that were used, and that were not there or not usable.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        )
    }

    /// The compiled component, if an artifact of it is there that this installation made with
    /// this engine. Any other artifact under its name is removed. Blocks on the disk.
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let place = self.place.as_ref()?;
        let component = place.load(engine, digest);
        let count = if component.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Ordering::Relaxed);
        component
    }

    /// Whether an artifact of this component for this engine is there. It is checked when it is
    /// loaded, not here.
    pub(crate) fn has(&self, digest: &Digest) -> bool {
        let place = self.place.as_ref();
        place.is_some_and(|place| place.path(digest).is_file())
    }

    /// Keeps the compiled component. A full disk costs the cache, not the component.
    pub(crate) fn store(&self, digest: &Digest, component: &Component) {
        let Some(place) = &self.place else { return };
        if let Err(error) = place.store(digest, component) {
            tracing::warn!(%digest, %error, "the compiled component was not kept in the cache");
        }
    }
}

impl Place {
    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(format!(
            "{}-{:016x}.{EXTENSION}",
            digest.hex(),
            self.compatibility
        ))
    }

    fn mac(&self, digest: &Digest, artifact: &[u8]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.key.0).expect("HMAC takes a key of any length");
        mac.update(MAGIC);
        mac.update(digest.as_bytes());
        mac.update(&self.compatibility.to_le_bytes());
        mac.update(artifact);
        mac
    }

    fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let path = self.path(digest);
        let mut bytes = Vec::new();
        let mut file = fs::File::open(&path).ok()?;
        file.read_to_end(&mut bytes).ok()?;
        let component = self.authentic(&bytes, digest).and_then(|artifact| {
            // SAFETY: the MAC shows that these bytes are what this installation's own
            // `Component::serialize` gave for this digest and this engine.
            #[allow(unsafe_code)]
            let component = unsafe { Component::deserialize(engine, artifact) };
            component
                .map_err(|error| tracing::warn!(%digest, %error, "artifact not usable"))
                .ok()
        });
        if component.is_none() {
            tracing::warn!(%digest, "a compiled artifact was tampered with or is foreign; removed");
            let _ = fs::remove_file(&path);
        } else {
            // The time of last use, for eviction.
            let _ = file.set_modified(SystemTime::now());
        }
        component
    }

    fn authentic<'a>(&self, bytes: &'a [u8], digest: &Digest) -> Option<&'a [u8]> {
        let (header, artifact) = bytes.split_at_checked(HEADER_BYTES)?;
        let (magic, mac) = header.split_at(MAGIC.len());
        if magic != MAGIC {
            return None;
        }
        // Constant time.
        self.mac(digest, artifact).verify_slice(mac).ok()?;
        Some(artifact)
    }

    fn store(&self, digest: &Digest, component: &Component) -> io::Result<()> {
        let artifact = component
            .serialize()
            .map_err(|error| io::Error::other(error.to_string()))?;
        let needed = (artifact.len() + HEADER_BYTES) as u64;
        if needed > self.max_bytes {
            return Ok(());
        }
        self.evict(self.max_bytes - needed)?;
        let mac = self.mac(digest, &artifact).finalize().into_bytes();
        let path = self.path(digest);
        let fresh = path.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
        let written = private_file(&fresh).and_then(|mut file| {
            file.write_all(MAGIC)?;
            file.write_all(&mac)?;
            file.write_all(&artifact)?;
            fs::rename(&fresh, &path)
        });
        if written.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        written
    }

    /// Removes the least recently used artifacts until at most `budget` bytes are left.
    fn evict(&self, budget: u64) -> io::Result<()> {
        let mut artifacts = Vec::new();
        let mut sum = 0;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let meta = entry.metadata()?;
            if meta.is_file() {
                sum += meta.len();
                artifacts.push((meta.modified()?, meta.len(), entry.path()));
            }
        }
        artifacts.sort();
        for (_, bytes, path) in artifacts {
            if sum <= budget {
                break;
            }
            fs::remove_file(path)?;
            sum -= bytes;
        }
        Ok(())
    }
}

/// A new file that only its owner can read.
fn private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A folder that only its owner can enter.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAT: &str = "(component)";

    fn place(folder: &Path, engine: &Engine, key: u8, max_bytes: u64) -> Cache {
        let settings = Settings {
            cache_dir: Some(folder.to_owned()),
            cache_key: Some(CacheKey::new([key; 32])),
            cache_max_bytes: max_bytes,
            ..Settings::default()
        };
        Cache::open(&settings, engine).expect("the folder is writable")
    }

    fn compiled(engine: &Engine) -> Component {
        let bytes = wat::parse_str(WAT).expect("valid text");
        Component::new(engine, bytes).expect("valid component")
    }

    fn only_file(folder: &Path) -> PathBuf {
        let mut files = fs::read_dir(folder).expect("the folder exists");
        files
            .next()
            .expect("one artifact")
            .expect("readable")
            .path()
    }

    #[test]
    fn what_was_stored_is_loaded_by_the_same_installation_alone() {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().expect("a folder"));
        let cache = place(folder.path(), &engine, 1, 1 << 30);
        let digest = Digest::of(b"a");
        assert!(cache.load(&engine, &digest).is_none());
        assert!(!cache.has(&digest));
        cache.store(&digest, &compiled(&engine));
        assert!(cache.has(&digest));
        assert!(cache.load(&engine, &digest).is_some());
        assert_eq!(cache.counts(), (1, 1));

        let stranger = place(folder.path(), &engine, 2, 1 << 30);
        assert!(stranger.load(&engine, &digest).is_none());
        assert!(
            fs::read_dir(folder.path())
                .expect("the folder exists")
                .next()
                .is_none()
        );
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().expect("a folder"));
        let cache = place(folder.path(), &engine, 1, 1 << 30);
        let digest = Digest::of(b"a");
        cache.store(&digest, &compiled(&engine));
        let path = only_file(folder.path());
        let good = fs::read(&path).expect("readable");
        let step = (good.len() / 64).max(1);
        for at in (0..good.len()).step_by(step).chain([good.len() - 1]) {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, bad).expect("writable");
            assert!(cache.load(&engine, &digest).is_none(), "byte {at}");
        }
        for cut in [0, 4, HEADER_BYTES, good.len() - 1] {
            fs::write(&path, &good[..cut]).expect("writable");
            assert!(cache.load(&engine, &digest).is_none(), "cut at {cut}");
        }
    }

    #[test]
    fn an_artifact_is_not_taken_for_another_components() {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().expect("a folder"));
        let cache = place(folder.path(), &engine, 1, 1 << 30);
        let (mine, other) = (Digest::of(b"a"), Digest::of(b"b"));
        cache.store(&mine, &compiled(&engine));
        let path = only_file(folder.path());
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        fs::rename(
            &path,
            folder.path().join(name.replace(&mine.hex(), &other.hex())),
        )
        .expect("the folder is writable");
        assert!(cache.load(&engine, &other).is_none());
    }

    #[test]
    fn the_least_recently_used_artifact_goes_first() {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().expect("a folder"));
        let size = compiled(&engine).serialize().expect("serialisable").len() + HEADER_BYTES;
        let cache = place(folder.path(), &engine, 1, size as u64 * 2 + 1);
        for name in [b"a", b"b"] {
            cache.store(&Digest::of(name), &compiled(&engine));
        }
        let old = SystemTime::now() - std::time::Duration::from_secs(60);
        for entry in fs::read_dir(folder.path()).expect("the folder exists") {
            let file = fs::File::options()
                .write(true)
                .open(entry.expect("readable").path());
            file.and_then(|file| file.set_modified(old))
                .expect("settable");
        }
        assert!(cache.load(&engine, &Digest::of(b"a")).is_some());
        cache.store(&Digest::of(b"c"), &compiled(&engine));
        assert!(cache.load(&engine, &Digest::of(b"a")).is_some());
        assert!(cache.load(&engine, &Digest::of(b"b")).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn artifacts_and_keys_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (engine, folder) = (Engine::default(), tempfile::tempdir().expect("a folder"));
        let cache = place(&folder.path().join("c"), &engine, 1, 1 << 30);
        cache.store(&Digest::of(b"a"), &compiled(&engine));
        let key = folder.path().join("key");
        let first = CacheKey::load_or_create(&key).expect("made");
        assert_eq!(first.0, CacheKey::load_or_create(&key).expect("read").0);
        for path in [key, only_file(&folder.path().join("c"))] {
            let mode = fs::metadata(path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
