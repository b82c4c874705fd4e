//! The events of an answer: those of a run that this request drives, or those that are kept of a run
//! in the background.

use std::{convert::Infallible, sync::Arc};

use axum::{body::Body, response::Response};
use bulkhead_agent::{Begun, Engine};
use bulkhead_domain::id::RunId;
use bytes::Bytes;
use futures::stream;

use super::{
    background,
    reader::Reader,
    stream::{self as wire, Streaming, Writer},
};
use crate::http::{
    AppState,
    holder::{self, Right},
};

/// Events as they come, in the form of server-sent ones. Dropping them is leaving: a run that is not
/// in the background is cancelled.
pub(crate) enum Events {
    Driven(Box<Writer>),
    Kept(Reader),
}

impl Events {
    /// Drives a run, in the foreground or in the background as it began.
    pub(super) fn of(app: &AppState, begun: Begun, how: Streaming) -> Self {
        if !how.background {
            return Self::driven(&app.engine, begun, how);
        }
        let (run_id, include_pings) = (begun.id(), how.include_pings);
        // Noted before anybody can look for it.
        let recording = app.recordings.begin(run_id);
        let recorder = Arc::clone(app);
        app.tasks
            .spawn(async move { background::record(&recorder, begun, how, recording).await });
        Self::kept(app, run_id, 0, include_pings)
    }

    fn driven(engine: &Engine, begun: Begun, how: Streaming) -> Self {
        Self::Driven(Box::new(Writer::begin(engine, begun, how)))
    }

    /// What is kept of a run in the background after a position, and what comes.
    pub(crate) fn kept(app: &AppState, run_id: RunId, after: u64, include_pings: bool) -> Self {
        Self::Kept(Reader::new(app, run_id, after, include_pings))
    }

    /// The run.
    pub(crate) fn run_id(&self) -> RunId {
        match self {
            Self::Driven(writer) => writer.run_id(),
            Self::Kept(reader) => reader.run_id(),
        }
    }

    /// The next events, one or some together; none after the last.
    pub(crate) async fn next(&mut self) -> Option<String> {
        match self {
            Self::Driven(writer) => writer.next().await.map(|written| written.text),
            Self::Kept(reader) => reader.next().await,
        }
    }

    /// An answer of server-sent events, for as long as the run is whoever's who asks.
    pub(crate) fn into_response(self) -> Response {
        let right = Right::Own(self.run_id().to_string());
        let pieces = stream::unfold(self, |mut events| async move {
            let piece = events.next().await?;
            Some((Ok::<_, Infallible>(Bytes::from(piece)), events))
        });
        holder::of_right(wire::sse(Body::from_stream(pieces)), right)
    }
}
