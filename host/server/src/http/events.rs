//! The streaming form of a call: server-sent events as they happen, then the result.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::response::{
    IntoResponse as _, Response,
    sse::{Event as Line, KeepAlive, Sse},
};
use bulkhead_sandbox::Event;
use futures::{Stream, StreamExt as _, stream};
use serde::Serialize;
use tokio::sync::mpsc;

use super::{AppState, call::CallView};
use crate::{calls::CallRequest, registry::plan::Plan};

/// Proxies close connections on which nothing is heard for 60 s or less; a client that went
/// away is noticed by the next write at the latest.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Answers with the call's events.
pub(crate) fn stream(app: &AppState, plan: &Plan, mut request: CallRequest) -> Response {
    // Unbounded, as the bytes of a call's events are bounded by its limits.
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let events = sender.clone();
    request.events = Some(Arc::new(move |event| {
        // A client that went away reads no more; its call is being cancelled.
        let _ = events.send(line(&event));
    }));
    let guard = request.cancel.clone().drop_guard();
    let call = app.call(plan, request);
    tokio::spawn(async move {
        let report = call.await;
        let _ = sender.send(data("result", &CallView::from(&report)));
    });
    let lines = stream::poll_fn(move |context| receiver.poll_recv(context));
    Sse::new(guarded(lines, guard))
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

/// The stream, and with its end the end of what it is about.
fn guarded<G>(
    lines: impl Stream<Item = Line>,
    guard: G,
) -> impl Stream<Item = Result<Line, Infallible>> {
    lines.map(move |line| {
        let _held = &guard;
        Ok(line)
    })
}

fn line(event: &Event) -> Line {
    let name = match event {
        Event::Progress { .. } => "progress",
        Event::Emit { .. } => "emit",
        Event::Log { .. } => "log",
        Event::Truncated { .. } => "truncated",
        _ => "event",
    };
    data(name, event)
}

fn data(name: &str, data: &impl Serialize) -> Line {
    // Types of this API have string keys and no failing serialiser; their JSON has no line break.
    let text = serde_json::to_string(data).unwrap_or_else(|error| {
        tracing::error!(%error, "an event could not be written as JSON");
        "null".to_owned()
    });
    Line::default().event(name).data(text)
}
