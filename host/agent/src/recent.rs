//! What models saw last, kept for the next message to the same thread: people write several in a
//! row, and reading a long context anew costs more than all else that a step does.
//!
//! What a stored message says never changes but for the system message's, which is not kept here. So
//! what is kept is used by its id, and only where the database still has that id in the context:
//! another server may have gone on meanwhile.

use std::collections::{BTreeMap, HashMap};

use bulkhead_domain::{Message, Part, id::AgentId};
use parking_lot::Mutex;

use crate::active::ThreadKey;

/// Bytes of all that is kept, as [`size`] counts them.
const BYTES_MAX: usize = 16 << 20;
/// What a message takes beside its text, and a thread beside its messages.
const ENTRY_BYTES: usize = 512;
/// What a byte of JSON may take in memory: `[1,1,…]` has a value every other byte.
const JSON_BYTES: usize = 16;

/// The contexts of the threads that were at work last.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    threads: HashMap<ThreadKey, Context>,
    /// By the number of their contexts: what was kept longest is first.
    order: BTreeMap<u64, ThreadKey>,
    bytes: usize,
    /// Counts what was kept.
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
        let bytes = messages.iter().map(size).sum::<usize>() + ENTRY_BYTES;
        if messages.is_empty() || bytes > BYTES_MAX / 4 {
            return;
        }
        let mut kept = self.0.lock();
        kept.remove(thread);
        while kept.bytes + bytes > BYTES_MAX {
            let Some((_, oldest)) = kept.order.first_key_value() else {
                break;
            };
            let oldest = *oldest;
            kept.remove(oldest);
        }
        kept.count += 1;
        kept.bytes += bytes;
        let number = kept.count;
        kept.order.insert(number, thread);
        let context = Context {
            messages,
            bytes,
            number,
        };
        kept.threads.insert(thread, context);
    }

    /// Keeps nothing of this agent.
    pub(crate) fn forget(&self, agent_id: AgentId) {
        let mut kept = self.0.lock();
        let threads = kept.threads.keys().copied();
        let threads: Vec<_> = threads.filter(|key| key.agent_id == agent_id).collect();
        for thread in threads {
            kept.remove(thread);
        }
    }
}

impl Kept {
    fn remove(&mut self, thread: ThreadKey) -> Option<Vec<Message>> {
        let context = self.threads.remove(&thread)?;
        self.order.remove(&context.number);
        self.bytes -= context.bytes;
        Some(context.messages)
    }
}

/// About the bytes that a message takes, at most.
fn size(message: &Message) -> usize {
    let json = |text: serde_json::Result<String>| text.map_or(0, |text| JSON_BYTES * text.len());
    let parts = message.content.iter().map(|part| match part {
        Part::Text {
            text,
            signature: None,
        } => text.len(),
        other => json(serde_json::to_string(other)),
    });
    let calls = message.tool_calls.iter().map(|call| {
        let signature = call.signature.as_ref();
        call.arguments.len() + json(serde_json::to_string(&signature))
    });
    let returns = message.tool_returns.iter().map(|returned| {
        let printed = [&returned.stdout, &returned.stderr].into_iter().flatten();
        let printed = printed
            .flatten()
            .map(|line| line.len() + size_of::<String>());
        let parts = returned.parts.as_ref();
        returned.text.len()
            + returned.packed.len()
            + printed.sum::<usize>()
            + parts.map_or(0, |parts| json(serde_json::to_string(parts)))
    });
    let approvals = message.approvals.iter();
    let approvals = approvals.map(|approval| json(serde_json::to_string(approval)));
    let all = parts.chain(calls).chain(returns).chain(approvals);
    all.map(|bytes| bytes + ENTRY_BYTES / 2).sum::<usize>() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use bulkhead_domain::Role;

    fn thread() -> ThreadKey {
        ThreadKey::default_of(AgentId::random())
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
