//! Which agents wait for answers of which: two that ask each other at once would wait for ever, each
//! in its own thread for a turn in the other's.

use bulkhead_domain::id::AgentId;
use parking_lot::Mutex;

/// The agents of this server whose default threads are kept by a run that waits for another agent's
/// answer. Where several servers share a database, what crosses them is ended by the tool's limit.
#[derive(Default)]
pub(crate) struct Waits(Mutex<Vec<(AgentId, AgentId)>>);

/// One waits for another. Dropping it ends that.
pub(crate) struct Waiting<'a> {
    waits: &'a Waits,
    edge: (AgentId, AgentId),
}

impl Waits {
    /// Notes that an agent waits for another one; none where that one waits for it already, itself
    /// or by way of others.
    pub(crate) fn begin(&self, asker: AgentId, asked: AgentId) -> Option<Waiting<'_>> {
        let mut edges = self.0.lock();
        let mut reached = vec![asked];
        let mut next = 0;
        while let Some(&agent) = reached.get(next) {
            if agent == asker {
                return None;
            }
            for &(from, to) in edges.iter() {
                if from == agent && !reached.contains(&to) {
                    reached.push(to);
                }
            }
            next += 1;
        }
        let edge = (asker, asked);
        edges.push(edge);
        Some(Waiting { waits: self, edge })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut edges = self.waits.0.lock();
        if let Some(at) = edges.iter().position(|edge| *edge == self.edge) {
            edges.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_would_close_a_circle_does_not_wait() {
        let waits = Waits::default();
        let [a, b, c] = [AgentId::random(), AgentId::random(), AgentId::random()];
        let first = waits.begin(a, b).unwrap();
        let _second = waits.begin(b, c).unwrap();
        assert!(waits.begin(c, a).is_none());
        assert!(waits.begin(a, a).is_none());
        // Twice at once, each for itself.
        let again = waits.begin(a, b).unwrap();
        drop(first);
        assert!(waits.begin(c, a).is_none());
        drop(again);
        assert!(waits.begin(c, a).is_some());
    }
}
