//! What the calls of a test may do.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bulkhead_egress::{Credential, Placement, Secret};
use bulkhead_guest_build::Build;
use bulkhead_policy::{Capabilities, Cidr, HttpRule, Limits, MemoryRule};
use bulkhead_sandbox::{Sandbox, Settings};

use crate::{Error, InMemoryBlocks, InMemoryState, Loaded};

/// Slots of a test's sandbox: tests call a tool a few times at once, and not a thousand times.
const SLOTS: usize = 8;

/// What the calls of a test may do. Starts with nothing allowed, default limits, and empty
/// state and memory of its own.
#[derive(Debug, Default)]
pub struct Testkit {
    pub(crate) granted: Capabilities,
    pub(crate) limits: Limits,
    pub(crate) credentials: Vec<Credential>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) agent_id: Option<String>,
    pub(crate) state: Arc<InMemoryState>,
    pub(crate) blocks: Arc<InMemoryBlocks>,
    target_dir: Option<PathBuf>,
    /// The first thing that was wrong; told when the component is loaded, so that the calls
    /// before can be chained.
    wrong: Option<Error>,
}

impl Testkit {
    /// Nothing allowed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Grants all of `capabilities`, beside what is granted already.
    #[must_use]
    pub fn grant(mut self, capabilities: &Capabilities) -> Self {
        self.granted.union(capabilities);
        self
    }

    /// Grants requests: `example.com`, `http://localhost:8080/api`, `any://*`.
    #[must_use]
    pub fn allow_host(self, rule: &str) -> Self {
        self.rule(rule, |_| ())
    }

    /// Grants requests to a server on this machine, such as one that the test started:
    /// `http://127.0.0.1:8080`. Opens the loopback addresses to that rule.
    #[must_use]
    pub fn allow_loopback(self, rule: &str) -> Self {
        self.rule(rule, |rule| {
            let loopback = ["127.0.0.0/8", "::1/128"];
            rule.private.extend(
                loopback
                    .iter()
                    .filter_map(|range| range.parse::<Cidr>().ok()),
            );
        })
    }

    fn rule(mut self, text: &str, change: impl FnOnce(&mut HttpRule)) -> Self {
        match text.parse::<HttpRule>() {
            Ok(mut rule) => {
                change(&mut rule);
                self.granted.http.push(rule);
            }
            Err(error) => self.fail(Error::Rule(text.to_owned(), error.to_string())),
        }
        self
    }

    /// Grants a credential, which the host adds to requests to `audience`.
    #[must_use]
    pub fn credential(
        mut self,
        name: &str,
        secret: &str,
        placement: Placement,
        audience: &str,
    ) -> Self {
        let rule = audience.parse::<HttpRule>();
        match (Secret::new(secret), rule) {
            (Ok(secret), Ok(rule)) => {
                self.granted.credentials.insert(name.to_owned());
                self.credentials.push(Credential {
                    name: name.to_owned(),
                    secret,
                    placement,
                    audience: vec![rule],
                    automatic: false,
                });
            }
            (Err(error), _) => self.fail(error.into()),
            (_, Err(error)) => self.fail(Error::Rule(audience.to_owned(), error.to_string())),
        }
        self
    }

    /// Grants durable state; [`Loaded::state`] shows what a tool wrote.
    #[must_use]
    pub fn allow_state(mut self) -> Self {
        self.granted.state = true;
        self
    }

    /// Grants a memory block, to read and to write, and sets it up.
    #[must_use]
    pub fn block(mut self, label: &str, value: &str) -> Self {
        self.blocks.set(label, value);
        let memory = self.granted.memory.get_or_insert_with(MemoryRule::default);
        memory.labels.insert(label.to_owned());
        memory.write = true;
        self
    }

    /// Grants an environment variable and sets it.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.granted.env.insert(name.to_owned());
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The agent on whose behalf calls are made.
    #[must_use]
    pub fn agent(mut self, id: &str) -> Self {
        self.agent_id = Some(id.to_owned());
        self
    }

    /// All limits at once.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Fuel of a call.
    #[must_use]
    pub fn fuel(mut self, fuel: u64) -> Self {
        self.limits.fuel = fuel;
        self
    }

    /// Bytes of memory of a call.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.limits.memory_bytes = bytes;
        self
    }

    /// Wall-clock time of a call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// Lets [`Testkit::build_crate`] build in this folder instead of the crate's own.
    #[must_use]
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Builds the crate in `folder` (or of this `Cargo.toml`) for `wasm32-wasip2` and loads its
    /// component.
    pub fn build_crate(self, folder: impl AsRef<Path>) -> Result<Loaded, Error> {
        let folder = folder.as_ref();
        let manifest = if folder.is_dir() {
            folder.join("Cargo.toml")
        } else {
            folder.to_owned()
        };
        // Not the target folder of the `cargo test` that runs this: cargo holds a lock on it.
        let target_dir = self
            .target_dir
            .clone()
            .or_else(|| Some(manifest.parent()?.join("target").join("testkit")));
        let build = Build {
            target_dir,
            quiet: true,
            ..Build::new(&manifest)
        };
        let artifact = build
            .run()?
            .into_iter()
            .next()
            .ok_or(Error::NoComponent(manifest))?;
        self.load(artifact.path)
    }

    /// Loads a component file.
    pub fn load(self, path: impl AsRef<Path>) -> Result<Loaded, Error> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        self.load_bytes(bytes)
    }

    /// Loads a component.
    pub fn load_bytes(mut self, bytes: impl Into<Arc<[u8]>>) -> Result<Loaded, Error> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let settings = Settings {
            slots: SLOTS,
            pooling: false,
            ..Settings::default()
        };
        Loaded::install(self, settings, bytes.into())
    }

    fn fail(&mut self, error: Error) {
        self.wrong.get_or_insert(error);
    }
}

/// A sandbox; made inside a runtime, whose timers and sockets it uses.
pub(crate) fn sandbox(settings: Settings) -> Result<Sandbox, Error> {
    Ok(Sandbox::new(settings)?)
}
