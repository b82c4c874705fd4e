//! What users of the platform see of `/v1`: what they made, as if nothing else were there.
//!
//! - Routes that are about the installation are refused ([`access`]); a route that the table does not
//!   name is one of them.
//! - An id of somebody else's thing, in the path, the query or the body, is replaced by one that nobody
//!   has before a handler sees it, and put back into the refusal: nothing can tell the two apart.
//! - Lists ask [`only`], and what is made is made by [`actor`].
//! - Tools of MCP servers act with the installation's tokens. Users neither see nor use them here
//!   ([`sees`]): their agents have those that a superuser's agent type names.

mod access;
mod hide;

use axum::{
    Router,
    extract::Request,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use bulkhead_access::Principal;
use bulkhead_domain::platform::UserId;
use bulkhead_store::ToolRecord;
use tower::ServiceExt as _;

use self::hide::{hide, put_back};
use super::{AppState, observe::Peer};
use crate::{contract::id::DEFAULT_USER, platform::Caller};

pub(crate) use self::access::access;

tokio::task_local! {
    static VIEWER: Viewer;
}

/// Who looks at `/v1`.
#[derive(Debug, Clone, Copy)]
struct Viewer {
    user: UserId,
    sees_all: bool,
}

/// Who makes and changes things, as they keep it.
pub(crate) fn actor() -> String {
    match VIEWER.try_with(|viewer| viewer.user) {
        Ok(user) => user.to_string(),
        Err(_) => DEFAULT_USER.to_owned(),
    }
}

/// The user of the platform who makes things; none where it is nobody of it.
pub(crate) fn user() -> Option<UserId> {
    VIEWER.try_with(|viewer| viewer.user).ok()
}

/// Whose things alone are listed; all where it is none.
pub(crate) fn only() -> Option<UserId> {
    let only = VIEWER.try_with(|viewer| (!viewer.sees_all).then_some(viewer.user));
    only.unwrap_or_default()
}

/// Whether a tool is there for whoever asks.
pub(crate) fn sees(tool: &ToolRecord) -> bool {
    tool.mcp.is_none() || only().is_none()
}

/// The same for work that goes on in another task.
pub(crate) fn carried<T: Send>(
    work: impl Future<Output = T> + Send,
) -> impl Future<Output = T> + Send {
    let viewer = VIEWER.try_with(|viewer| *viewer).ok();
    async move {
        match viewer {
            Some(viewer) => VIEWER.scope(viewer, work).await,
            None => work.await,
        }
    }
}

/// Answers a request for whoever asks. `bare`: all routes, past the guard.
pub(crate) async fn answer(
    app: &AppState,
    bare: &Router,
    caller: &Caller,
    request: Request,
    next: Next,
) -> Response {
    let Principal::User { id, is_superuser } = caller.principal else {
        return next.run(request).await;
    };
    let viewer = Viewer {
        user: id,
        sees_all: is_superuser,
    };
    if is_superuser || request.uri().path().starts_with(super::platform::ROOT) {
        return VIEWER.scope(viewer, next.run(request)).await;
    }
    let action = access(request.method(), request.uri().path());
    if let Err(refused) = caller.may(action) {
        return refused.into_response();
    }
    let hidden = match hide(&app.store, id, request).await {
        Ok(hidden) => hidden,
        Err(rejection) => return rejection.into_response(),
    };
    // Another target is routed anew, and what is called there is asked for again.
    let action = access(hidden.request.method(), hidden.request.uri().path());
    if let (true, Err(refused)) = (hidden.other_path, caller.may(action)) {
        return refused.into_response();
    }
    let answered = async {
        if hidden.other_path {
            let Ok(response) = bare.clone().oneshot(routed_anew(hidden.request)).await;
            response
        } else {
            next.run(hidden.request).await
        }
    };
    let response = VIEWER.scope(viewer, answered).await;
    put_back(response, &hidden.replaced).await
}

/// The request as one that no route was found for yet: what a router noted of its path is gone.
fn routed_anew(mut request: Request) -> Request {
    let noted = std::mem::take(request.extensions_mut());
    let kept = request.extensions_mut();
    if let Some(caller) = noted.get::<Caller>() {
        kept.insert(caller.clone());
    }
    if let Some(peer) = noted.get::<Peer>() {
        kept.insert(*peer);
    }
    request
}
