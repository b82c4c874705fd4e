//! Pushing a version: installing it, comparing it with the active one, asking for consent.

use std::sync::Arc;

use bulkhead_domain::Digest;
use bulkhead_sandbox::InstallError;
use bulkhead_store::{ComponentRecord, ComponentStatus, NewComponent, Standing, StoreError};
use bytes::Bytes;

use super::{Registry, against, check_name, description::Description, difference::Difference};
use crate::{
    heap,
    http::error::{self, Rejection},
};

/// A version that was pushed.
pub(crate) struct Pushed {
    pub(crate) record: ComponentRecord,
    pub(crate) description: Description,
    /// Against the version that was active before.
    pub(crate) difference: Difference,
    /// Whether these bytes were not stored before.
    pub(crate) is_new: bool,
}

/// Who pushes a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A person, or a program on behalf of one.
    Person,
    /// The start of the server, which never takes the place of what a person pushed.
    Start,
}

impl Registry {
    /// Installs a version of `name`. It becomes the active one if it is the first, or if no
    /// tool of it wishes for more than the active version's tool of its name; otherwise it
    /// waits for a person. One that the start of the server brings waits unless it is the first.
    pub(crate) async fn push(
        &self,
        name: Option<&str>,
        bytes: Bytes,
        origin: Origin,
    ) -> Result<Pushed, Rejection> {
        let (bytes, digest) = hash(bytes).await?;
        let known = self.store.component(&digest).await?;
        let name = match (name, &known) {
            (Some(name), Some(known)) if known.name != name => {
                return Err(StoreError::OtherName {
                    name: known.name.clone(),
                }
                .into());
            }
            (Some(name), _) => name.to_owned(),
            (None, Some(known)) => known.name.clone(),
            (None, None) => {
                let message =
                    "name the component with ?name=NAME: these bytes are not known here yet";
                return Err(Rejection::with(&error::INVALID_PARAMETER, message));
            }
        };
        check_name(&name)?;
        if name == crate::source::COMPONENT {
            let message = "the name source means tools that arrive as source; choose another one";
            return Err(Rejection::with(&error::INVALID_PARAMETER, message));
        }
        let component = self.sandbox.install(Arc::<[u8]>::from(&bytes[..])).await;
        self.metrics
            .installed(component.as_ref().map_or_else(InstallError::code, |_| "ok"));
        let component = component?;
        tokio::task::spawn_blocking(heap::give_back);
        let description = Description::from(&component);

        let document =
            serde_json::to_value(&description).map_err(|error| Rejection::host(&error))?;
        let new = NewComponent {
            name,
            digest,
            bytes: bytes.into(),
            description: document,
        };
        let _changing = self.changing.lock().await;
        let mut difference = None;
        let decide = |standing: Standing<'_>| {
            let against = against(standing.active, &digest, &description)?;
            let status = status_for(&standing, &against, origin);
            difference = Some(against);
            Ok::<_, Rejection>(status)
        };
        let record = self.store.put_component(new, decide).await?;
        if record.status == ComponentStatus::Active {
            self.loaded.insert(component);
            self.loaded.evict();
            self.list_tools_of(&record.name).await?;
        }
        self.forget_plans();
        tracing::info!(name = record.name, %digest, status = record.status.as_str(), "a component was pushed");
        Ok(Pushed {
            record,
            difference: difference.unwrap_or_else(|| Difference::between(None, &description)),
            description,
            is_new: known.is_none(),
        })
    }
}

/// Active, unless a person has to agree. A name whose active version was deleted has grants
/// still, so that whatever follows needs consent to every wish; a new name has nothing that
/// could be misused.
fn status_for(standing: &Standing<'_>, difference: &Difference, origin: Origin) -> ComponentStatus {
    if standing.is_first || (!difference.wider && origin == Origin::Person) {
        ComponentStatus::Active
    } else {
        ComponentStatus::Pending
    }
}

/// Hashing megabytes would hold up everything else on this thread.
async fn hash(bytes: Bytes) -> Result<(Bytes, Digest), Rejection> {
    let hashed = tokio::task::spawn_blocking(move || {
        let digest = Digest::of(&bytes);
        (bytes, digest)
    });
    hashed.await.map_err(|error| Rejection::host(&error))
}
