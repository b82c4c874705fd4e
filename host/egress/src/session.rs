//! One call's way out.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use http::HeaderValue;
use rustls::ClientConfig;

use crate::{
    Access, Allowance, Credential, EgressError, Scrubber, Settings, SetupError, budget::Budgets,
    connect,
};

/// The way out of a process. Cheap to clone.
#[derive(Clone)]
pub struct Egress(Arc<Shared>);

/// What all calls share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) user_agent: HeaderValue,
    pub(crate) tls: Arc<ClientConfig>,
}

/// One call's way out: its rules, its credentials, and what is left of its budgets. Cheap to
/// clone; clones share the budgets.
#[derive(Clone)]
pub struct Session(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) access: Access,
    pub(crate) budgets: Budgets,
    /// Made when it is first needed: most calls send nothing.
    scrubber: OnceLock<Scrubber>,
    /// Credentials that the host added to a request of this call, as indices.
    added: Mutex<BTreeSet<usize>>,
}

impl Egress {
    /// Prepares what all calls share.
    pub fn new(settings: Settings) -> Result<Self, SetupError> {
        let tls = connect::tls(&settings)?;
        let user_agent = HeaderValue::from_str(&settings.user_agent);
        let user_agent = user_agent.map_err(|_| SetupError::UserAgent)?;
        Ok(Self(Arc::new(Shared {
            settings,
            user_agent,
            tls,
        })))
    }

    /// The way out of one call.
    pub fn session(&self, access: Access) -> Session {
        let budgets = Budgets::new(&access);
        let shared = Arc::clone(&self.0);
        Session(Arc::new(Inner {
            shared,
            access,
            budgets,
            scrubber: OnceLock::new(),
            added: Mutex::default(),
        }))
    }
}

impl Session {
    /// What the call may still send and receive, for the calls that it makes.
    pub fn allowance(&self) -> Allowance {
        self.0.budgets.totals.clone()
    }

    /// Finds the secrets of the call, for what else it writes: logs, errors, results.
    pub fn scrubber(&self) -> &Scrubber {
        self.0.scrubber()
    }
}

impl Inner {
    pub(crate) fn scrubber(&self) -> &Scrubber {
        self.scrubber
            .get_or_init(|| Scrubber::new(&self.access.credentials))
    }

    /// Notes that a request with `credentials` is about to leave.
    pub(crate) fn note_added(&self, credentials: &[&Credential]) {
        let all = self.access.credentials.iter().enumerate();
        let owners = all.filter(|(_, one)| credentials.iter().any(|added| added.name == one.name));
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        added.extend(owners.map(|(owner, _)| owner));
    }

    /// Whose secrets the host added to requests of this call so far, as indices.
    pub(crate) fn added(&self) -> BTreeSet<usize> {
        let added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        added.clone()
    }

    /// The refusal of a request that holds the secret of the credential at `owner`.
    pub(crate) fn secret_in_request(&self, owner: usize) -> EgressError {
        EgressError::SecretInRequest {
            name: self.access.credentials[owner].name.clone(),
        }
    }
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Egress").field(&self.0.settings).finish()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("budgets", &self.0.budgets)
            .finish_non_exhaustive()
    }
}
