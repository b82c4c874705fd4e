//! Messages to an agent for which nobody waits; somebody may be told of the end.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Request, State},
};
use bulkhead_agent::{Begun, RunType};
use bulkhead_domain::{
    Run, RunStatus, Timestamp,
    id::{AgentId, RunId},
};
use bulkhead_egress::{Access, Egress, Request as Outgoing};
use bulkhead_policy::{Cidr, HostPattern, HttpRule};
use serde_json::{Value, json};

use super::{
    background::{self, Recording},
    body::{Route, SendBody},
    input,
    stream::Streaming,
};
use crate::{
    app::App,
    contract::{Refusal, body, document::RunRefusals},
    http::{AppState, agents::find, query::Path, runs::view::RunView, scope, unbroken_contract},
};

/// How long the receiver of a report may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Networks of one's own, where a receiver may be. Link-local addresses, where clouds keep their
/// secrets, are not among them.
const PRIVATE: [&str; 6] = [
    "127.0.0.0/8",
    "::1/128",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
];
/// The part of a run's configuration that says whether its receiver may be in such a network: who
/// asked was the installation or a superuser. Clients don't see it.
const PRIVATE_RECEIVER: &str = "private_receiver";
/// Bytes of a receiver's answer, of which the status alone is kept.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// Characters of what went wrong.
const ERROR_CHARS_MAX: usize = 500;

/// Sends messages to an agent and answers at once with the run that they begin.
#[utoipa::path(
    post,
    path = "/v1/agents/{agent_id}/messages/async",
    operation_id = "create_agent_message_async",
    tag = "messages",
    params(("agent_id" = String, Path, description = "the agent's id")),
    request_body = Object,
    responses((status = OK, body = RunView, description = "the run"), RunRefusals)
)]
pub(crate) async fn send(
    State(app): State<AppState>,
    Path(agent_id): Path<String>,
    request: Request,
) -> Result<Json<RunView>, Refusal> {
    let agent_id = find::id(&agent_id)?;
    let body = SendBody::read(Route::Async, body::value(request).await?)?;
    begun(app, &body, agent_id).await
}

/// Begins a run with what a body says to an agent, and gives the run.
pub(crate) async fn begun(
    app: AppState,
    body: &SendBody,
    agent_id: AgentId,
) -> Result<Json<RunView>, Refusal> {
    let mut request = input::request(&app, body, agent_id, None, RunType::Async).await?;
    request.background = true;
    let how = Streaming {
        view: body.view(),
        include_pings: true,
        background: true,
    };
    // Whoever leaves meanwhile: nobody waits for this run anyway.
    let created = unbroken_contract(async move {
        let begun = app.engine.begin(request).await?;
        let created = Run {
            status: RunStatus::Created,
            ..begun.run().clone()
        };
        // Noted before anybody can look for it.
        let recording = app.recordings.begin(begun.id());
        app.tasks.clone().spawn(run(app, begun, how, recording));
        Ok(created)
    });
    Ok(Json(created.await?.into()))
}

async fn run(app: Arc<App>, begun: Begun, how: Streaming, recording: Recording) {
    let (id, url) = (begun.id(), begun.run().callback_url.clone());
    background::record(&app, begun, how, recording).await;
    if let Some(url) = url {
        report(&app, id, &url).await;
    }
}

/// Notes in a run's configuration where its receiver may be, by who asks now. The end may be told
/// by another server, and by one that knows nothing of who asked.
pub(super) fn note_receiver(config: &mut Value) {
    if scope::only().is_none() {
        config[PRIVATE_RECEIVER] = Value::Bool(true);
    }
}

/// A run's configuration as clients see it.
pub(crate) fn shown_config(mut config: Value) -> Value {
    if let Some(fields) = config.as_object_mut() {
        fields.remove(PRIVATE_RECEIVER);
    }
    config
}

/// Tells the client's receiver how a run ended, once; whatever comes of it is noted in the run.
pub(crate) async fn report(app: &App, id: RunId, url: &str) {
    let told = match app.store.run(&id).await {
        Ok(Some(run)) => post(&app.egress, &run, url).await,
        Ok(None) => return,
        Err(error) => return tracing::warn!(run = %id, %error, "a run was not reported"),
    };
    let noted = app.store.update_run(&id, move |run| match told {
        Ok(status) => {
            run.callback_sent_at = Some(Timestamp::now());
            run.callback_status_code = Some(i64::from(status));
        }
        Err(reason) => {
            run.callback_sent_at = Some(Timestamp::now());
            run.callback_error = Some(reason);
        }
    });
    if let Err(error) = noted.await {
        tracing::warn!(run = %id, %error, "the report of a run was not noted");
    }
}

async fn post(egress: &Egress, run: &Run, url: &str) -> Result<u16, String> {
    let body = body_of(run).to_string();
    let parsed = url::Url::parse(url).map_err(|error| error.to_string())?;
    let config = run.request_config.as_ref();
    let may_be_private = config.is_some_and(|config| config[PRIVATE_RECEIVER] == true);
    let ranges: &[&str] = if may_be_private { &PRIVATE } else { &[] };
    let private = ranges.iter().filter_map(|range| range.parse::<Cidr>().ok());
    let rule = HttpRule {
        port: parsed.port(),
        private: private.collect(),
        ..HttpRule::to_host(HostPattern::ANY, None)
    };
    let session = egress.session(Access {
        rules: [rule].into(),
        requests: 1,
        request_bytes: body.len() as u64,
        response_bytes: ANSWER_BYTES_MAX,
        ..Access::none()
    });
    let request = Outgoing {
        method: "POST".to_owned(),
        url: url.to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Some(body.into()),
        timeout: Some(TIMEOUT),
        credential: None,
    };
    let answer = session.fetch(request).await;
    answer
        .map(|answer| answer.status)
        .map_err(|error| error.to_string().chars().take(ERROR_CHARS_MAX).collect())
}

fn body_of(run: &Run) -> Value {
    json!({
        "run_id": run.id,
        "status": run.status,
        "completed_at": run.completed_at,
        "metadata": run.metadata,
    })
}
