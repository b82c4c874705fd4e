//! Who opened a socket, and whether they may still use it: a token and a sign-in end while a socket
//! stays open, and rights are taken away.

use std::time::Duration;

use bulkhead_access::Principal;
use bulkhead_domain::id::AgentId;
use bulkhead_store::StoreError;
use http::{Extensions, HeaderMap};

use crate::{
    app::App,
    contract::Refusal,
    http::{auth, error::Rejection, scope},
    platform::{Caller, TokenRefused},
};

/// How often it is asked while nothing comes from the client. What this server changes counts on its
/// sockets within this time, what another one changes some seconds later.
const EVERY: Duration = Duration::from_secs(5);

/// What a client is told whose agent is somebody else's by now. Reasons have at most 123 bytes.
const NOT_THERE: &str = "this sign-in has no such agent any more";
/// What a client is told whose user became a superuser, or is one no more.
const OTHER_RIGHTS: &str = "the rights of this sign-in have changed; connect again";

/// Who opened a socket.
pub(super) struct Holder {
    /// None where it is whoever runs the server: their token counts as long as the server runs.
    person: Option<Person>,
}

struct Person {
    token: String,
    principal: Principal,
}

/// Why a frame is not obeyed.
pub(super) enum Denied {
    /// The socket is not theirs any more; the text is for the client.
    ForGood(&'static str),
    /// It could not be found out.
    Now(Refusal),
}

impl Holder {
    /// Who asks for a socket.
    pub(super) fn of(extensions: &Extensions, headers: &HeaderMap) -> Self {
        let principal = extensions.get::<Caller>().map(|caller| caller.principal);
        let person = principal.filter(|principal| matches!(principal, Principal::User { .. }));
        Self {
            person: person.map(|principal| Person {
                token: auth::given_token(headers).unwrap_or_default().into_owned(),
                principal,
            }),
        }
    }

    /// Asks anew whether this agent's socket is theirs.
    pub(super) async fn check(&self, app: &App, agent: AgentId) -> Result<(), Denied> {
        let Some(person) = &self.person else {
            return Ok(());
        };
        let unknown = |error: StoreError| Denied::Now(Rejection::from(error).into());
        let caller = app.platform.caller(&app.store, &person.token).await;
        let caller = caller.map_err(|refused| match refused {
            TokenRefused::Invalid(reason) => Denied::ForGood(reason),
            TokenRefused::Store(error) => unknown(error),
        })?;
        if caller.principal != person.principal {
            return Err(Denied::ForGood(OTHER_RIGHTS));
        }
        let Some(user) = scope::only() else {
            return Ok(());
        };
        let id = agent.to_string();
        let owners = app.store.owners(&[&id]).await.map_err(unknown)?;
        // One that was deleted is refused where a frame needs it.
        match owners.get(&id) {
            Some(owner) if owner.user() != Some(user) => Err(Denied::ForGood(NOT_THERE)),
            _ => Ok(()),
        }
    }

    /// Waits until the socket is not theirs any more, and says why.
    pub(super) async fn lost(&self, app: &App, agent: AgentId) -> &'static str {
        if self.person.is_none() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(EVERY).await;
            if let Err(Denied::ForGood(reason)) = self.check(app, agent).await {
                return reason;
            }
        }
    }
}
