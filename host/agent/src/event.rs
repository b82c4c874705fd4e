//! What a run tells its listener while it goes on.

use std::sync::Arc;

use bulkhead_domain::{
    Message, Timestamp,
    id::{MessageId, RunId, StepId},
};
use tokio::sync::mpsc;

use crate::pack::CompactionStats;

/// Pieces that may wait for a slow listener; then the model's own stream is slowed down.
pub const EVENTS_WAITING_MAX: usize = 256;

/// What happens in a run, in order.
#[derive(Debug, Clone)]
pub enum Event {
    /// The run has its id and has begun.
    Started(RunId),
    /// A piece of an answer, where pieces were asked for.
    Delta(Delta),
    /// A message that is, or is about to be, stored. Its pieces may have been shown before.
    Message(Arc<Message>, Shown),
    /// The context is about to be made shorter.
    Compacting {
        /// Why.
        trigger: &'static str,
        /// Estimated tokens of the context.
        context_tokens: i64,
        /// Tokens that fit.
        context_window: i64,
        /// The run.
        run_id: Option<RunId>,
        /// The step after which.
        step_id: Option<StepId>,
    },
    /// The context was made shorter; the message is the summary.
    Compacted(Arc<Message>, CompactionStats),
}

/// Whether a message was shown in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// It is new to the listener.
    Not,
    /// All of it was sent as [`Event::Delta`].
    InPieces,
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub struct Delta {
    /// The message that will be stored.
    pub message_id: MessageId,
    /// The step.
    pub step_id: StepId,
    /// The run.
    pub run_id: RunId,
    /// When the step began.
    pub at: Timestamp,
    /// The place among the kinds of this answer, from 0: reasoning, text, calls.
    pub index: u8,
    /// The piece.
    pub piece: Piece,
}

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Of reasoning; `native` where the model reasons by itself.
    Reasoning {
        /// The text.
        text: String,
        /// Whether the model reasons by itself.
        native: bool,
    },
    /// Of text.
    Text(String),
    /// A call begins.
    Call {
        /// The provider's id of the call.
        id: String,
        /// The tool.
        name: String,
        /// Whether it waits for a person or the client.
        waits: bool,
    },
    /// Of a call's arguments.
    Arguments {
        /// The provider's id of the call.
        id: String,
        /// Raw JSON text.
        json: String,
        /// Whether the call waits for a person or the client.
        waits: bool,
    },
}

/// Where a run's events go. That nobody listens any more is told to the run, which ends or goes on
/// as its request said.
#[derive(Debug, Clone, Default)]
pub struct Listener(Option<mpsc::Sender<Event>>);

impl Listener {
    /// A listener and what it hears.
    pub fn channel() -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(EVENTS_WAITING_MAX);
        (Self(Some(sender)), receiver)
    }

    /// Nobody listens.
    pub fn none() -> Self {
        Self(None)
    }

    /// Tells; false if the listener has gone.
    pub(crate) async fn tell(&self, event: Event) -> bool {
        match &self.0 {
            Some(sender) => sender.send(event).await.is_ok(),
            None => true,
        }
    }
}
