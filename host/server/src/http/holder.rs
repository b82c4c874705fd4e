//! Who holds a socket or a stream open, and whether they still may: a token and a sign-in end while it
//! is open, and rights are taken away.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, BodyDataStream},
    response::Response,
};
use bulkhead_access::{Action, Principal};
use bulkhead_domain::platform::{ProjectId, SessionId, UserId};
use bulkhead_store::StoreError;
use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use http::{Extensions, HeaderMap, header};
use serde_json::json;

use super::{
    AppState, auth,
    error::Rejection,
    messages::stream::{DONE, ERROR, data},
};
use crate::{
    app::App,
    contract::Refusal,
    platform::{Caller, TokenRefused},
};

/// How often it is asked while nothing comes from the client. What this server changes counts on its
/// sockets and streams within this time, what another one changes some seconds later.
const EVERY: Duration = Duration::from_secs(5);

/// What a client is told whose agent is somebody else's by now. Reasons have at most 123 bytes.
const NOT_THERE: &str = "this sign-in has no such agent any more";
/// What a client is told whose user became a superuser, or is one no more.
const OTHER_RIGHTS: &str = "the rights of this sign-in have changed; connect again";
/// What a client is told who was taken out of a project, or may do less in it.
const OTHER_ROLE: &str = "the role of this sign-in in the project does not allow this any more";

/// What holds beside the sign-in as long as something is open.
#[derive(Debug, Clone)]
pub(crate) enum Right {
    /// Nothing.
    None,
    /// A thing of `/v1`, by its id, is theirs.
    Own(String),
    /// Their role in a project lets them do this.
    InProject(ProjectId, Action),
}

/// Who opened a socket or a stream.
pub(crate) struct Holder {
    /// None where it is whoever runs the server: their token counts as long as the server runs.
    person: Option<Person>,
}

struct Person {
    proof: Proof,
    principal: Principal,
}

/// What must go on to count.
enum Proof {
    /// A token: whoever holds a socket opens another one with the next.
    Token(String),
    /// A sign-in: nobody shows another token on a stream that is being answered, and most runs that
    /// take longer than a token counts would be lost with it.
    SignIn(SessionId, UserId),
}

/// Why it is not theirs.
pub(crate) enum Denied {
    /// And will not be; the text is for the client.
    ForGood(&'static str),
    /// It could not be found out.
    Now(Refusal),
}

impl Holder {
    /// Who asks for a socket.
    pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap) -> Self {
        let principal = extensions.get::<Caller>().map(|caller| caller.principal);
        let person = principal.filter(|principal| matches!(principal, Principal::User { .. }));
        Self {
            person: person.map(|principal| Person {
                proof: Proof::Token(auth::given_token(headers).unwrap_or_default().into_owned()),
                principal,
            }),
        }
    }

    /// Whose request is answered.
    pub(crate) fn asking(caller: &Caller) -> Self {
        let principal = caller.principal;
        let person = match (principal, caller.session) {
            (Principal::User { id, .. }, Some(session)) => Some(Person {
                proof: Proof::SignIn(session, id),
                principal,
            }),
            _ => None,
        };
        Self { person }
    }

    /// Asks anew whether they have this right.
    pub(crate) async fn check(&self, app: &App, right: &Right) -> Result<(), Denied> {
        let Some(person) = &self.person else {
            return Ok(());
        };
        let unknown = |error: StoreError| Denied::Now(Rejection::from(error).into());
        let (platform, store) = (&app.platform, &app.store);
        let caller = match &person.proof {
            Proof::Token(token) => platform.caller(store, token).await,
            Proof::SignIn(session, user) => platform.signed_in(store, *session, *user).await,
        };
        let caller = caller.map_err(|refused| match refused {
            TokenRefused::Invalid(reason) => Denied::ForGood(reason),
            TokenRefused::Store(error) => unknown(error),
        })?;
        if caller.principal != person.principal {
            return Err(Denied::ForGood(OTHER_RIGHTS));
        }
        let Principal::User {
            id: user,
            is_superuser: false,
        } = caller.principal
        else {
            return Ok(());
        };
        match right {
            Right::None => Ok(()),
            Right::Own(id) => {
                let owners = app.store.owners(&[id]).await.map_err(unknown)?;
                match owners.get(id) {
                    Some(owner) if owner.user() != Some(user) => Err(Denied::ForGood(NOT_THERE)),
                    // One that was deleted is refused where it is needed.
                    _ => Ok(()),
                }
            }
            Right::InProject(project, action) => {
                match caller.may_in(app, *project, *action).await {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(Denied::ForGood(OTHER_ROLE)),
                    Err(error) => Err(unknown(error)),
                }
            }
        }
    }

    /// Waits until it is not theirs any more, and says why.
    pub(crate) async fn lost(&self, app: &App, right: &Right) -> &'static str {
        if self.person.is_none() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(EVERY).await;
            if let Err(Denied::ForGood(reason)) = self.check(app, right).await {
                return reason;
            }
        }
    }
}

/// An answer that, where it is a stream, ends with this right of who asked.
pub(crate) fn of_right(mut answer: Response, right: Right) -> Response {
    answer.extensions_mut().insert(right);
    answer
}

/// An answer as it is sent to who asked: a stream of events ends when it is not theirs any more, and
/// says so. What goes on for its client alone ends with it.
pub(crate) fn watched(app: &AppState, holder: Holder, mut answer: Response) -> Response {
    let right = answer.extensions_mut().remove::<Right>();
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if holder.person.is_none() || !is_stream {
        return answer;
    }
    let (app, right) = (Arc::clone(app), right.unwrap_or(Right::None));
    let lost = async move { holder.lost(&app, &right).await };
    answer.map(|body| {
        let held = Held {
            pieces: Some(body.into_data_stream()),
            lost: lost.boxed(),
        };
        Body::from_stream(stream::unfold(held, Held::next))
    })
}

/// A stream of events that somebody holds open.
struct Held {
    /// None when it was ended.
    pieces: Option<BodyDataStream>,
    lost: BoxFuture<'static, &'static str>,
}

impl Held {
    async fn next(mut self) -> Option<(Result<Bytes, axum::Error>, Self)> {
        let pieces = self.pieces.as_mut()?;
        let piece = tokio::select! {
            // First: of some streams there is always a piece.
            biased;
            reason = &mut self.lost => {
                self.pieces = None;
                Ok(farewell(reason))
            }
            piece = pieces.next() => piece?,
        };
        Some((piece, self))
    }
}

/// The last events of a stream that is not its reader's any more.
fn farewell(reason: &str) -> Bytes {
    let mut text = ERROR.to_owned();
    data(
        &mut text,
        &json!({
            "message_type": "error_message",
            "run_id": null,
            "error_type": "access_lost",
            "message": "The stream has ended: whoever reads it may not do so any more.",
            "detail": reason,
            "seq_id": null,
        }),
    );
    text.push_str(DONE);
    text.into()
}
