//! Who asks, and whether they may.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use bulkhead_access::{Action, Decision, Principal, Relation, decide};
use bulkhead_domain::{
    id::AgentId,
    platform::{Project, ProjectId, UserId},
};
use bulkhead_store::{InstanceRecord, StoreError};
use http::request::Parts;

use crate::{
    app::App,
    http::error::{self, Rejection},
    platform::Caller,
};

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let caller = parts.extensions.get::<Self>();
        Ok(caller.cloned().unwrap_or(Self::ANONYMOUS))
    }
}

impl Caller {
    /// Whether the caller may do what belongs to no project.
    pub(crate) fn may(&self, action: Action) -> Result<(), Rejection> {
        match decide(&self.principal, action, Relation::None) {
            Decision::Forbidden if self.principal == Principal::Installation => Err(no_person()),
            decision => refuse(decision),
        }
    }

    /// The person who asks, who may do this.
    pub(crate) fn person(&self, action: Action) -> Result<UserId, Rejection> {
        self.may(action)?;
        self.signed_in()?;
        self.user().ok_or_else(no_person)
    }

    /// The project, in which the caller may do this. Where they have nothing to do with it, it is
    /// not there.
    pub(crate) async fn project(
        &self,
        app: &App,
        project_id: &str,
        action: Action,
    ) -> Result<Project, Rejection> {
        // Who may not ask at all learns nothing, not even which ids are well-formed.
        self.signed_in()?;
        let missing = || no_project(project_id);
        let id: ProjectId = project_id.parse().map_err(|_| missing())?;
        let project = app.store.project(id).await?.ok_or_else(missing)?;
        match self.decision(app, id, action).await? {
            Decision::Hidden => Err(missing()),
            decision => refuse(decision).map(|()| project),
        }
    }

    /// Whether the caller may do this too in a project.
    pub(crate) async fn may_in(
        &self,
        app: &App,
        project: ProjectId,
        action: Action,
    ) -> Result<bool, StoreError> {
        Ok(self.decision(app, project, action).await? == Decision::Allow)
    }

    async fn decision(
        &self,
        app: &App,
        project: ProjectId,
        action: Action,
    ) -> Result<Decision, StoreError> {
        let relation = match self.principal {
            Principal::User { id: user, .. } => app.store.role_in(project, user).await?.into(),
            _ => Relation::None,
        };
        Ok(decide(&self.principal, action, relation))
    }

    /// The instance of the project, with which the caller may do this.
    pub(crate) async fn instance(
        &self,
        app: &App,
        project_id: &str,
        agent_id: &str,
        action: Action,
    ) -> Result<(Project, InstanceRecord), Rejection> {
        let project = self.project(app, project_id, action).await?;
        let missing = || {
            let text = format!("there is no agent {agent_id} in this project");
            Rejection::with(&error::NOT_FOUND, text)
        };
        let id: AgentId = agent_id.parse().map_err(|_| missing())?;
        let instance = app.store.instance(project.id, id).await?;
        Ok((project, instance.ok_or_else(missing)?))
    }

    /// The person who asks, where it is one.
    pub(crate) fn user(&self) -> Option<UserId> {
        match self.principal {
            Principal::User { id, .. } => Some(id),
            _ => None,
        }
    }

    fn signed_in(&self) -> Result<(), Rejection> {
        match self.principal {
            Principal::Anonymous => Err(Rejection::new(&error::UNAUTHORIZED)),
            _ => Ok(()),
        }
    }
}

fn refuse(decision: Decision) -> Result<(), Rejection> {
    match decision {
        Decision::Allow => Ok(()),
        Decision::Unauthorized => Err(Rejection::new(&error::UNAUTHORIZED)),
        Decision::Forbidden => Err(Rejection::new(&error::FORBIDDEN)),
        Decision::Hidden => Err(Rejection::new(&error::NOT_FOUND)),
    }
}

fn no_person() -> Rejection {
    let text = "the server's own token stands for no person; sign in for this";
    Rejection::with(&error::FORBIDDEN, text)
}

fn no_project(id: &str) -> Rejection {
    Rejection::with(&error::NOT_FOUND, format!("there is no project {id}"))
}
