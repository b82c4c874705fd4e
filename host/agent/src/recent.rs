//! What models saw last, kept for the next message to the same thread: people write several in a
//! row, and reading a long context anew costs more than all else that a step does.
//!
//! A message that is stored never changes but for the system message, which is not kept here. So
//! what is kept is used by its id, and only where the database still has that id in the context:
//! another server may have gone on meanwhile.

use std::collections::HashMap;

use bulkhead_domain::{Message, Part};
use parking_lot::Mutex;

use crate::active::ThreadKey;

/// Bytes of all that is kept, as [`size`] counts them.
const BYTES_MAX: usize = 16 << 20;
/// What a message takes beside its text.
const MESSAGE_BYTES: usize = 512;

/// The contexts of the threads that were at work last.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    threads: HashMap<ThreadKey, Context>,
    bytes: usize,
    /// Counts what was kept, so that the oldest is known.
    count: u64,
}

struct Context {
    messages: Vec<Message>,
    bytes: usize,
    number: u64,
}

impl Recent {
    /// What was kept of a thread; nothing is kept of it then.
    pub(crate) fn take(&self, thread: ThreadKey) -> Vec<Message> {
        let mut kept = self.0.lock();
        kept.remove(thread).unwrap_or_default()
    }

    /// Keeps the context of a thread, without its system message. What was kept longest makes room.
    pub(crate) fn keep(&self, thread: ThreadKey, messages: Vec<Message>) {
        let bytes = messages.iter().map(size).sum();
        if bytes > BYTES_MAX / 4 {
            return;
        }
        let mut kept = self.0.lock();
        kept.remove(thread);
        while kept.bytes + bytes > BYTES_MAX {
            let oldest = kept
                .threads
                .iter()
                .min_by_key(|(_, context)| context.number);
            let Some(oldest) = oldest.map(|(thread, _)| *thread) else {
                break;
            };
            kept.remove(oldest);
        }
        kept.count += 1;
        kept.bytes += bytes;
        let number = kept.count;
        let context = Context {
            messages,
            bytes,
            number,
        };
        kept.threads.insert(thread, context);
    }
}

impl Kept {
    fn remove(&mut self, thread: ThreadKey) -> Option<Vec<Message>> {
        let context = self.threads.remove(&thread)?;
        self.bytes -= context.bytes;
        Some(context.messages)
    }
}

/// About the bytes that a message takes.
fn size(message: &Message) -> usize {
    let parts = message.content.iter().map(|part| match part {
        Part::Text { text, .. } => text.len(),
        Part::Reasoning { reasoning, .. } => reasoning.len(),
        other => serde_json::to_string(other).map_or(0, |text| text.len()),
    });
    let calls = message.tool_calls.iter().map(|call| call.arguments.len());
    let returns = message
        .tool_returns
        .iter()
        .map(|returned| serde_json::to_string(returned).map_or(0, |text| text.len()));
    let all = parts.chain(calls).chain(returns);
    all.map(|bytes| bytes + MESSAGE_BYTES / 2).sum::<usize>() + MESSAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use bulkhead_domain::{Role, id::AgentId};

    fn thread() -> ThreadKey {
        ThreadKey {
            agent_id: AgentId::random(),
            conversation_id: None,
        }
    }

    fn messages(bytes: usize) -> Vec<Message> {
        vec![Message::text(
            AgentId::random(),
            Role::User,
            "x".repeat(bytes),
        )]
    }

    #[test]
    fn what_was_kept_longest_makes_room() {
        let recent = Recent::default();
        let threads: Vec<_> = (0..9).map(|_| thread()).collect();
        for thread in &threads {
            recent.keep(*thread, messages(BYTES_MAX / 6));
        }
        let kept = |thread: &ThreadKey| !recent.take(*thread).is_empty();
        let kept: Vec<bool> = threads.iter().map(kept).collect();
        assert_eq!(
            kept,
            [false, false, false, false, true, true, true, true, true]
        );
        assert_eq!(recent.0.lock().bytes, 0);
    }

    #[test]
    fn a_context_of_its_own_size_is_not_kept() {
        let recent = Recent::default();
        let huge = thread();
        recent.keep(huge, messages(BYTES_MAX));
        assert!(recent.take(huge).is_empty());
    }
}
