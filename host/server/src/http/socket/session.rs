//! One socket, from its first frame to its last.
//!
//! What clients send is done in its order; the streams that they begin go on beside it, each a task
//! that is dropped with the socket: that cancels a run in the foreground and leaves one in the
//! background. All that is sent passes one short queue, so that a client that reads slowly slows its
//! streams down and fills no memory; one that reads nothing is cut off by its connection.

use std::time::Duration;

use bulkhead_store::ThreadFilter;
use bytes::Bytes;
use futures::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt as _, sync::mpsc, task::JoinSet, time::MissedTickBehavior};
use tokio_tungstenite::tungstenite::{
    Error, Message,
    error::ProtocolError,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{
    frame::{self, Command, RequestId},
    handshake::Socket,
    pieces::Pieces,
};
use crate::{
    contract::{Refusal, body},
    http::{
        AppState,
        error::{self, Rejection},
        holder::{Denied, Holder, Right},
        messages::{
            body::{Route, SendBody},
            control::{self, CancelAgentRunRequest},
            events::Events,
            send::{self, Recipient},
            stream::{DONE_WORD, data_of},
        },
        runs::stream::RetrieveStream,
    },
};

/// Frames that wait to be sent; behind them streams wait.
const FRAMES_WAITING_MAX: usize = 16;
/// Streams of one socket at once. Most clients have one, and one that follows another run.
const STREAMS_MAX: usize = 16;
/// Pings within the time after which a client that says nothing counts as gone.
const PINGS: u32 = 3;
/// How long streams may take to end when the server does. Connections are dropped a little later.
const LAST_EVENTS: Duration = Duration::from_millis(1_500);
/// How long saying good-bye may take.
const FAREWELL: Duration = Duration::from_millis(500);
/// How much of what is too large is still read, so that the client reads why it is closed and not
/// that the connection was reset.
const DRAIN_MAX: u64 = 128 << 20;
/// And how long that may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

type Sink = SplitSink<Socket, Message>;

/// Why a socket ends.
enum Ending {
    /// The client has gone, or is not there.
    Gone,
    /// The server says why.
    Close(CloseCode, &'static str),
}

/// Serves a socket until either side closes it, or it is its holder's no more.
pub(super) async fn run(app: AppState, to: Recipient, holder: Holder, socket: Socket) {
    let pieces = socket.get_ref().pieces();
    let (mut sink, mut source) = socket.split();
    let (out, queue) = mpsc::channel(FRAMES_WAITING_MAX);
    let right = Right::Own(to.thread.agent_id.to_string());
    let (closing, silence) = (app.closing.clone(), app.client_timeout);
    let mut session = Session {
        app: AppState::clone(&app),
        to,
        out,
        streams: JoinSet::new(),
    };
    let ending = {
        let mut writing = std::pin::pin!(write(&mut sink, queue, silence / PINGS));
        let ending = tokio::select! {
            ending = session.read((&holder, &right), &mut source, pieces) => ending,
            reason = holder.lost(&app, &right) => {
                Ending::Close(CloseCode::Policy, reason)
            }
            () = &mut writing => Ending::Gone,
            () = closing.cancelled() => {
                // The server cancels its runs, whose last events say so.
                let last = async { while session.streams.join_next().await.is_some() {} };
                tokio::select! {
                    _ = tokio::time::timeout(LAST_EVENTS, last) => {
                        Ending::Close(CloseCode::Away, "the server is shutting down")
                    }
                    () = &mut writing => Ending::Gone,
                }
            }
        };
        // With the session its streams end, and with them the queue.
        drop(session);
        if matches!(ending, Ending::Close(..)) {
            let _ = tokio::time::timeout(FAREWELL, writing).await;
        }
        ending
    };
    if let Ending::Close(code, reason) = ending {
        close(sink, source, code, reason).await;
    }
}

/// Closes a socket and says why.
async fn close(
    mut sink: Sink,
    mut source: SplitStream<Socket>,
    code: CloseCode,
    reason: &'static str,
) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let said = tokio::time::timeout(FAREWELL, sink.send(Message::Close(Some(frame)))).await;
    if !matches!(said, Ok(Ok(()))) {
        return;
    }
    if code != CloseCode::Size {
        // Until the client closes too.
        let others = async { while let Some(Ok(_)) = source.next().await {} };
        let _ = tokio::time::timeout(FAREWELL, others).await;
        return;
    }
    if let Ok(socket) = sink.reunite(source) {
        let mut rest = socket.into_inner().take(DRAIN_MAX);
        let mut nowhere = tokio::io::sink();
        let drained = tokio::io::copy(&mut rest, &mut nowhere);
        let _ = tokio::time::timeout(DRAIN_TIMEOUT, drained).await;
    }
}

/// Sends what is in the queue, and pings, until the queue ends or the client has gone.
async fn write(sink: &mut Sink, mut queue: mpsc::Receiver<String>, every: Duration) {
    let mut ping = tokio::time::interval(every.max(Duration::from_millis(1)));
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once.
    ping.tick().await;
    loop {
        let message = tokio::select! {
            frame = queue.recv() => match frame {
                Some(frame) => Message::text(frame),
                None => return,
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        if sink.feed(message).await.is_err() {
            return;
        }
        // What is there by now goes out together.
        for _ in 0..FRAMES_WAITING_MAX {
            let Ok(frame) = queue.try_recv() else { break };
            if sink.feed(Message::text(frame)).await.is_err() {
                return;
            }
        }
        if sink.flush().await.is_err() {
            return;
        }
    }
}

/// The client's side of a socket.
struct Session {
    app: AppState,
    to: Recipient,
    out: mpsc::Sender<String>,
    /// Those of runs that go on, each written by a task of its own.
    streams: JoinSet<()>,
}

impl Session {
    /// Does what the client's frames say, one after another.
    async fn read(
        &mut self,
        (holder, right): (&Holder, &Right),
        source: &mut SplitStream<Socket>,
        mut pieces: Pieces,
    ) -> Ending {
        let patience = self.app.client_timeout;
        loop {
            let message = match tokio::time::timeout(patience, source.next()).await {
                Err(_) | Ok(None) => return Ending::Gone,
                Ok(Some(Err(error))) => return ending(&error),
                Ok(Some(Ok(message))) => message,
            };
            if pieces.note(&message) >= patience {
                return Ending::Close(CloseCode::Policy, "the message did not arrive in time");
            }
            let answer = match message {
                Message::Text(text) => match holder.check(&self.app, right).await {
                    Ok(()) => self.obey(&text).await,
                    Err(Denied::ForGood(reason)) => {
                        return Ending::Close(CloseCode::Policy, reason);
                    }
                    Err(Denied::Now(refusal)) => {
                        let (id, _) = frame::read(&text);
                        Some(frame::refusal(&refusal, &id))
                    }
                },
                Message::Binary(_) => {
                    let text = "send frames of JSON text";
                    let refused = Rejection::with(&error::UNSUPPORTED_MEDIA_TYPE, text);
                    Some(frame::refusal(&refused.into(), &None))
                }
                // Pings and closes are answered where frames are read.
                _ => None,
            };
            if let Some(answer) = answer
                && self.out.send(answer).await.is_err()
            {
                return Ending::Gone;
            }
            self.reap();
        }
    }

    /// Forgets the streams that have ended.
    fn reap(&mut self) {
        while self.streams.try_join_next().is_some() {}
    }

    /// Does what a frame says, and gives what answers it beside a stream.
    async fn obey(&mut self, text: &str) -> Option<String> {
        let (id, command) = frame::read(text);
        let done = match command {
            Ok(Command::Send(body)) => self.send(body, &id).await.map(|()| None),
            Ok(Command::Cancel(body)) => self.cancel(&body).await.map(Some),
            Ok(Command::Follow(body)) => self.follow(&body, &id).await.map(|()| None),
            Err(refusal) => Err(refusal),
        };
        match done {
            Ok(runs) => runs.map(|runs| frame::cancelled(&runs, &id)),
            Err(refusal) => Some(frame::refusal(&refusal, &id)),
        }
    }

    async fn send(&mut self, body: Value, id: &RequestId) -> Result<(), Refusal> {
        self.expect_room()?;
        let body = SendBody::read(self.to.route, body)?;
        let events = send::streamed(&self.app, &body, self.to).await?;
        self.relay(events, id);
        Ok(())
    }

    async fn cancel(&self, body: &Value) -> Result<Value, Refusal> {
        let named = body::read::<CancelAgentRunRequest>(body)?.named()?;
        let thread = self.to.thread;
        // As by the routes of each: an agent's means all that goes on.
        let threads = match self.to.route {
            Route::Conversation => ThreadFilter::of(thread.conversation_id),
            Route::Agent | Route::Async => ThreadFilter::Any,
        };
        let runs = control::cancelled(&self.app, thread.agent_id, threads, named).await?;
        Ok(runs.0)
    }

    async fn follow(&mut self, body: &Value, id: &RequestId) -> Result<(), Refusal> {
        self.expect_room()?;
        let wanted = body::read::<RetrieveStream>(body)?;
        let events = wanted.events(&self.app, self.to.thread).await?;
        self.relay(events, id);
        Ok(())
    }

    fn expect_room(&mut self) -> Result<(), Refusal> {
        self.reap();
        if self.streams.len() < STREAMS_MAX {
            return Ok(());
        }
        let detail =
            format!("RATE_LIMIT_EXCEEDED: {STREAMS_MAX} streams go on at once on this socket.");
        let body = json!({ "detail": detail });
        Err(Refusal::with(StatusCode::TOO_MANY_REQUESTS, body))
    }

    fn relay(&mut self, events: Events, id: &RequestId) {
        self.streams
            .spawn(relay(events, self.out.clone(), id.clone()));
    }
}

/// Sends the events of a stream, each as a frame, and says when there are no more.
async fn relay(mut events: Events, out: mpsc::Sender<String>, id: RequestId) {
    while let Some(text) = events.next().await {
        for data in data_of(&text).filter(|data| *data != DONE_WORD) {
            if out.send(frame::event(data, &id)).await.is_err() {
                return;
            }
        }
    }
    // Nobody hears it where the socket has gone.
    let _ = out.send(frame::end(events.run_id(), &id)).await;
}

/// How a socket ends on which reading failed.
fn ending(error: &Error) -> Ending {
    match error {
        Error::Capacity(_) => Ending::Close(CloseCode::Size, "the frame is too large"),
        Error::Utf8(_) => Ending::Close(CloseCode::Invalid, "the frame is not UTF-8"),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ending::Gone,
        Error::Protocol(reason) => {
            tracing::debug!(%reason, "a socket broke the protocol");
            Ending::Close(CloseCode::Protocol, "the frame breaks the protocol")
        }
        _ => Ending::Gone,
    }
}
