//! What is installed and what it may do: the store's knowledge, kept ready for calls.
//!
//! A call needs a compiled component, an authority and limits. All three come from the store
//! once and stay in memory as a [`Plan`], so that a call reads no database. Whatever a person
//! changes through this server (components, grants, credentials, names of tools, variables of the
//! sandbox) forgets all plans at once, so that the next call is made under the new rules; a plan that was being made meanwhile is not
//! kept. Servers that share one database learn of each other's changes when a plan is
//! [`SHARED_MAX_AGE`] old.
//!
//! - [`push`]: installing, comparing with the active version, consent.
//! - [`plan`]: what a call of one tool needs. [`source_plan`]: the same for a tool from source.
//! - [`tool_index`]: which components have a tool of some name. [`tool_names`]: the names of all tools.
//! - [`loaded`]: compiled components, each loaded once and by one task.
//! - `listed`: tools of components in the list of all tools. `core_tool`: those of them that agents have
//!   by default.
//! - [`description`], [`difference`]: what people see of a component and of a change.
//! - [`credential`], [`state`], [`peers`]: what is behind the interfaces of a call.
//! - [`builtin`]: the tools that come with the server.

pub(crate) mod builtin;
mod core_tool;
pub(crate) mod credential;
pub(crate) mod description;
pub(crate) mod difference;
mod listed;
pub(crate) mod loaded;
pub(crate) mod peers;
pub(crate) mod plan;
pub(crate) mod push;
pub(crate) mod source_plan;
pub(crate) mod state;
pub(crate) mod tool_index;
pub(crate) mod tool_names;

use std::{sync::Arc, time::Duration};

use bulkhead_domain::Digest;
use bulkhead_sandbox::{Component, Sandbox};
use bulkhead_store::{ComponentRecord, Store};
use parking_lot::RwLock;

pub(crate) use self::core_tool::FILE_TOOLS;
use self::{description::Description, difference::Difference, loaded::Loaded, plan::Plans};
use crate::{
    http::error::{self, Rejection},
    metrics::Metrics,
};

/// How long a change that another server made to a shared database may go unnoticed. One read
/// a second and tool costs nothing; a revoked grant should not outlive a person's next click.
pub(crate) const SHARED_MAX_AGE: Duration = Duration::from_secs(1);
/// Longest name of a component.
const NAME_MAX: usize = 64;

/// The components of this server and what they may do.
pub(crate) struct Registry {
    sandbox: Sandbox,
    store: Store,
    metrics: Arc<Metrics>,
    /// How old a plan may be; none where no other server writes to this database.
    max_age: Option<Duration>,
    plans: RwLock<Plans>,
    loaded: Loaded,
    /// Held while a version is compared with the active one and stored, so that two pushes
    /// are never both compared with a version that neither of them follows.
    changing: tokio::sync::Mutex<()>,
    /// How many built-in tools are installed, while that goes on.
    installing: tokio::sync::watch::Sender<Option<usize>>,
}

impl Registry {
    pub(crate) fn new(sandbox: Sandbox, store: Store, metrics: Arc<Metrics>, shared: bool) -> Self {
        Self {
            sandbox,
            store,
            metrics,
            max_age: shared.then_some(SHARED_MAX_AGE),
            plans: RwLock::default(),
            loaded: Loaded::default(),
            changing: tokio::sync::Mutex::new(()),
            installing: tokio::sync::watch::Sender::new(None),
        }
    }

    /// The version that a digest or, as the active one, a name means.
    pub(crate) async fn find(&self, reference: &str) -> Result<ComponentRecord, Rejection> {
        let found = match Reference::parse(reference)? {
            Reference::Digest(digest) => self.store.component(&digest).await?,
            Reference::Name(name) => self.store.component_by_name(name).await?,
        };
        found.ok_or_else(|| {
            let message =
                format!("there is no component {reference}, or none of its versions is active");
            Rejection::with(&error::UNKNOWN_COMPONENT, message)
        })
    }

    /// Makes a version the active one of its name: a person agreed to what it wishes for.
    pub(crate) async fn activate(&self, reference: &str) -> Result<ComponentRecord, Rejection> {
        let _changing = self.changing.lock().await;
        let found = self.find(reference).await?;
        let record = self
            .store
            .activate_component(&found.name, &found.digest)
            .await?;
        self.list_tools_of(&record.name).await?;
        self.forget_plans();
        tracing::info!(name = record.name, digest = %record.digest, "a version was activated");
        Ok(record)
    }

    /// How a version differs from the active one of its name.
    pub(crate) async fn difference(&self, reference: &str) -> Result<Difference, Rejection> {
        let record = self.find(reference).await?;
        let new = description(&record)?;
        let active = self.store.component_by_name(&record.name).await?;
        against(active.as_ref(), &record.digest, &new)
    }

    /// Deletes a version.
    pub(crate) async fn delete(&self, reference: &str) -> Result<ComponentRecord, Rejection> {
        let _changing = self.changing.lock().await;
        let record = self.find(reference).await?;
        self.store.delete_component(&record.digest).await?;
        self.loaded.forget(&record.digest);
        self.list_tools_of(&record.name).await?;
        self.forget_plans();
        tracing::info!(name = record.name, digest = %record.digest, "a component was deleted");
        Ok(record)
    }

    /// Takes back what was granted to a tool from source: its name is free for another.
    pub(crate) async fn forget_source(&self, tool: &str) -> Result<(), Rejection> {
        self.store
            .delete_grants_of(crate::source::COMPONENT, tool)
            .await?;
        self.forget_plans();
        Ok(())
    }

    /// The compiled component, from memory, the cache on disk or its bytes, in this order.
    async fn load(&self, record: &ComponentRecord) -> Result<Arc<loaded::Entry>, Rejection> {
        let (entry, was_there) = self.loaded.entry(record.digest);
        self.metrics.component_lookup(was_there);
        entry.get_or_load(|| self.install_stored(record)).await?;
        if !was_there && self.loaded.evict() {
            self.forget_plans();
        }
        Ok(entry)
    }

    /// Installs a stored component again. What it says of its tools is pinned: one that says
    /// otherwise than when a person saw it runs no more.
    async fn install_stored(&self, record: &ComponentRecord) -> Result<Component, Rejection> {
        let bytes = self.store.component_bytes(&record.digest).await?;
        let bytes = bytes.ok_or_else(|| Rejection::new(&error::UNKNOWN_COMPONENT))?;
        let component = self.sandbox.install(bytes).await?;
        let pinned = description(record)?.tools;
        let pinned = pinned.iter().map(|tool| &tool.info);
        if !component.tools().map(|(info, _)| info).eq(pinned) {
            let message = format!(
                "{} describes itself otherwise than when it was pushed, so it does not run; \
                 delete it and push a version whose descriptions stay the same",
                record.name
            );
            return Err(Rejection::with(&error::INVALID_COMPONENT, message));
        }
        Ok(component)
    }
}

/// How a version differs from the active one of its name. Nothing would differ from nothing
/// where the active one is this version itself, so that it compares with itself.
fn against(
    active: Option<&ComponentRecord>,
    digest: &Digest,
    new: &Description,
) -> Result<Difference, Rejection> {
    let Some(active) = active else {
        return Ok(Difference::between(None, new));
    };
    if active.digest == *digest {
        return Ok(Difference::between(Some((active.digest, new)), new));
    }
    let old = description(active)?;
    Ok(Difference::between(Some((active.digest, &old)), new))
}

/// What is stored beside a component's bytes.
pub(crate) fn description(record: &ComponentRecord) -> Result<Description, Rejection> {
    serde::Deserialize::deserialize(&record.description)
        .map_err(|error: serde_json::Error| Rejection::host(&error))
}

/// How requests mean a component.
pub(crate) enum Reference<'a> {
    Digest(Digest),
    Name(&'a str),
}

impl<'a> Reference<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, Rejection> {
        if let Ok(digest) = text.parse() {
            return Ok(Self::Digest(digest));
        }
        check_name(text).map(|()| Self::Name(text))
    }
}

/// Names are part of URLs, files and what models read. 64 hex digits would be a digest.
pub(crate) fn check_name(name: &str) -> Result<(), Rejection> {
    let of_names =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    let starts_well = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_name = starts_well && name.len() <= NAME_MAX && name.bytes().all(of_names);
    if is_name && name.parse::<Digest>().is_err() {
        return Ok(());
    }
    let message = "a component is meant by its digest (sha256: and 64 hex digits) or its name (1 to 64 \
        of a-z, 0-9, _ and -, the first one a letter or a digit)";
    Err(Rejection::with(&error::INVALID_PARAMETER, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_meant_by_digest_or_name_and_nothing_else() {
        let digest = Digest::of(b"a");
        for text in [digest.to_string(), digest.hex()] {
            assert!(
                matches!(Reference::parse(&text), Ok(Reference::Digest(found)) if found == digest)
            );
        }
        for name in ["a", "fetch_webpage", "0-a", &"a".repeat(63)] {
            assert!(matches!(Reference::parse(name), Ok(Reference::Name(found)) if found == name));
        }
        for text in [
            "",
            "A",
            "-a",
            "_a",
            "a b",
            "a/b",
            "ä",
            "sha256:00",
            &"a".repeat(65),
            "..",
            "a.b",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
        assert!(check_name(&digest.hex()).is_err());
    }
}
