//! How many values one call may move in or out.

/// Values of one input or one output, a name in a record counted as one. A value takes some 40
/// bytes of the host's memory while a call is made ready: a megabyte of JSON stays below 50.
pub(super) const MAX_VALUES: usize = 1 << 20;

/// Counts values down from [`MAX_VALUES`].
#[derive(Debug)]
pub(super) struct Budget {
    left: Option<usize>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            left: Some(MAX_VALUES),
        }
    }

    /// Takes `values`; none once there were too many.
    pub(super) fn spend(&mut self, values: usize) -> Option<()> {
        self.left = self.left.and_then(|left| left.checked_sub(values));
        self.left.map(|_| ())
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}
