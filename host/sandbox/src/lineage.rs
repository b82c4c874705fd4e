//! What a call inherits from the one that made it.

use std::sync::Arc;

use bulkhead_egress::Allowance;
use bulkhead_policy::Capabilities;

use crate::slots::Slot;

/// What a call inherits from the one that made it through `peers`; the default for one from
/// outside. Its fuel, time and memory are in the limits.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    /// The calls that led here, outermost first, as `digest/tool`.
    pub(crate) calls: Vec<String>,
    /// What is left of the requests and their bytes.
    pub(crate) allowance: Option<Allowance>,
    /// Where the outermost call runs; none for that one itself.
    pub(crate) slot: Option<Arc<Slot>>,
    narrowing: Option<Arc<Capabilities>>,
}

impl Lineage {
    /// A call from outside that passes on `narrowing` and no more, to whatever it calls too.
    pub fn narrowed(narrowing: Capabilities) -> Self {
        Self {
            narrowing: Some(Arc::new(narrowing)),
            ..Self::default()
        }
    }

    /// What the outermost caller passes on; none for all that is granted.
    pub fn narrowing(&self) -> Option<&Capabilities> {
        self.narrowing.as_deref()
    }

    /// How many calls led here.
    pub fn depth(&self) -> usize {
        self.calls.len()
    }

    /// The same within what is left of another call's requests.
    pub(crate) fn within(&self, allowance: Allowance) -> Self {
        Self {
            allowance: Some(allowance),
            ..self.clone()
        }
    }

    /// The same for what is called by a call that runs in `slot`.
    pub(crate) fn in_slot(self, slot: &Arc<Slot>) -> Self {
        Self {
            slot: Some(Arc::clone(slot)),
            ..self
        }
    }

    /// The lineage of what `call` (`digest/tool`) calls.
    pub(crate) fn with_call(&self, call: String) -> Self {
        let mut lineage = self.clone();
        lineage.calls.push(call);
        lineage
    }
}
