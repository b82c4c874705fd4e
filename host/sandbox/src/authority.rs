//! What a call may do: the component's wishes, cut down to what was granted, cut down to what
//! the caller passes on.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, LazyLock},
};

use bulkhead_domain::{Content, Digest};
use bulkhead_egress::{Credential, Scrubber};
use bulkhead_policy::{Capabilities, FolderRule, HttpRule};

use crate::Component;

/// What a call may do. Made once for a tool and its grant and shared by all calls under it, so
/// that a call neither intersects nor hashes.
pub struct Authority {
    pub(crate) capabilities: Capabilities,
    pub(crate) hash: Digest,
    pub(crate) rules: Arc<[HttpRule]>,
    pub(crate) credentials: Arc<[Credential]>,
    pub(crate) scrubber: Scrubber,
    /// Names the tool's durable state; see [`crate::services::Namespace`].
    pub(crate) state_name: String,
}

static NONE: LazyLock<Arc<Authority>> = LazyLock::new(|| {
    Arc::new(Authority::new(
        Capabilities::default(),
        Vec::new(),
        String::new(),
    ))
});

impl Authority {
    /// No capability at all.
    pub fn none() -> Arc<Self> {
        Arc::clone(&NONE)
    }

    /// What `tool` of `component` may do: its wishes ∩ `granted` ∩ `narrowing`. Credentials
    /// whose names are in neither part of the result are dropped here and never reach the call.
    /// `state_name` names the tool's durable state and must stay the same across versions of
    /// the component. None if the component has no such tool.
    pub fn for_tool(
        component: &Component,
        tool: &str,
        granted: &Capabilities,
        narrowing: Option<&Capabilities>,
        credentials: Vec<Credential>,
        state_name: impl Into<String>,
    ) -> Option<Arc<Self>> {
        let wishes = component.tool_wishes(tool)?;
        let mut effective = granted.limited_to(wishes);
        if let Some(narrowing) = narrowing {
            effective = effective.limited_to(narrowing);
        }
        Some(Arc::new(Self::new(
            effective,
            credentials,
            state_name.into(),
        )))
    }

    /// What source may do: `granted` ∩ `narrowing`. Source declares no wishes, so that it wishes
    /// for whatever its runtime could reach. `packages` are folders of imports, which it sees
    /// read-only without a grant.
    pub fn for_source(
        granted: &Capabilities,
        narrowing: Option<&Capabilities>,
        credentials: Vec<Credential>,
        state_name: impl Into<String>,
        packages: Vec<FolderRule>,
    ) -> Arc<Self> {
        let mut effective = match narrowing {
            Some(narrowing) => granted.limited_to(narrowing),
            None => granted.clone(),
        };
        let packages = packages.into_iter().map(|folder| FolderRule {
            write: false,
            ..folder
        });
        effective.folders.extend(packages);
        Arc::new(Self::new(effective, credentials, state_name.into()))
    }

    fn new(
        capabilities: Capabilities,
        mut credentials: Vec<Credential>,
        state_name: String,
    ) -> Self {
        credentials.retain(|credential| {
            capabilities.credentials.contains(&credential.name)
                || capabilities.reveal.contains(&credential.name)
        });
        let hash = Digest::of(capabilities.canonical_json().as_bytes());
        let rules = capabilities.http.iter().cloned().collect();
        let scrubber = Scrubber::new(&credentials);
        Self {
            capabilities,
            hash,
            rules,
            credentials: credentials.into(),
            scrubber,
            state_name,
        }
    }

    /// The effective capabilities.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// A part of an output without the exact secrets of this call.
    pub(crate) fn scrub_content(&self, part: Content) -> Content {
        let scrub = |text: String| match self.scrubber.redact_str(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        };
        match part {
            Content::Text { text } => Content::Text { text: scrub(text) },
            // base64 at all alignments is among the encodings that the scrubber knows.
            Content::Blob { media_type, data } => Content::Blob {
                media_type: scrub(media_type),
                data: scrub(data),
            },
            Content::Link { uri, title } => Content::Link {
                uri: scrub(uri),
                title: title.map(scrub),
            },
        }
    }

    /// SHA-256 of the effective capabilities in canonical JSON, as receipts carry it.
    pub fn hash(&self) -> Digest {
        self.hash
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
