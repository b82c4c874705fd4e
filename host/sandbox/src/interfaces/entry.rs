//! How every function of an interface begins and ends: it lets others run, asks for its grant,
//! lets no secret out, and is recorded.

use bulkhead_domain::HostCallOutcome;

use super::wit;
use crate::{recorder::Begun, state::CallState};

/// What the errors of all interfaces have in common.
pub(super) trait Refusal: Sized {
    /// The host refuses.
    fn denied(message: String) -> Self;
    /// Nothing stands behind the interface.
    fn unavailable(message: String) -> Self;
    /// Whether it was made by [`Refusal::denied`].
    fn is_denied(&self) -> bool;
}

macro_rules! refusals {
    ($($error:ty),+ $(,)?) => {$(
        impl Refusal for $error {
            fn denied(message: String) -> Self {
                Self::Denied(message)
            }

            fn unavailable(message: String) -> Self {
                Self::Unavailable(message)
            }

            fn is_denied(&self) -> bool {
                matches!(self, Self::Denied(_))
            }
        }
    )+};
}

refusals!(
    wit::agents::AgentError,
    wit::files::FileError,
    wit::memory::MemoryError,
    wit::peers::PeerError,
    wit::recall::RecallError,
    wit::state::StateError,
);

impl CallState {
    /// Begins a host call to which the guest hands over `bytes`.
    pub(super) async fn begin(
        &mut self,
        interface: &'static str,
        function: &'static str,
        target: Option<&str>,
        bytes: usize,
    ) -> Begun {
        self.breathe(bytes).await;
        self.recorder.begin(interface, function, target, bytes)
    }

    /// Ends a host call; `bytes` are those that the guest gets of a result.
    pub(super) fn end<T, E: Refusal>(
        &mut self,
        begun: Begun,
        result: Result<T, E>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Result<T, E> {
        let (bytes, outcome) = match &result {
            Ok(value) => (bytes(value), HostCallOutcome::Ok),
            Err(error) if error.is_denied() => (0, HostCallOutcome::Denied),
            Err(_) => (0, HostCallOutcome::Failed),
        };
        self.recorder.end(begun, bytes, outcome);
        result
    }

    /// Refuses `what` for want of a grant; the message names the `flag` that would allow it.
    pub(super) fn require<E: Refusal>(
        &mut self,
        granted: bool,
        interface: &str,
        what: impl FnOnce() -> String,
        flag: impl FnOnce() -> String,
    ) -> Result<(), E> {
        if granted {
            return Ok(());
        }
        let message = missing_grant(&what(), &flag());
        self.recorder.deny(interface, message.clone());
        Err(E::denied(message))
    }

    /// Refuses what the guest hands over if a credential that was revealed to it stands in it:
    /// what is stored or sent is read by others later.
    pub(super) fn keep_secrets<E: Refusal>(
        &mut self,
        interface: &str,
        texts: &[&[u8]],
    ) -> Result<(), E> {
        let scrubber = &self.context.authority.scrubber;
        if !texts.iter().any(|text| scrubber.finds(text)) {
            return Ok(());
        }
        let message = "a credential of this call stands in what the tool hands over".to_owned();
        self.recorder.deny(interface, message.clone());
        Err(E::denied(message))
    }
}

/// What an interface says where nothing stands behind it.
pub(super) fn service<S, E: Refusal>(service: Option<S>, what: &str) -> Result<S, E> {
    service.ok_or_else(|| {
        E::unavailable(format!(
            "this call has no {what}: it is not made on behalf of an agent that has one"
        ))
    })
}

/// What an interface says for want of a grant, and which grant would allow it.
pub(super) fn missing_grant(what: &str, flag: &str) -> String {
    format!("{what} is not granted to this tool; a person can allow it with {flag}")
}
