//! `bulkhead:tool/peers`: other tools of the same caller, on this call's budget.
//!
//! Linked by hand and not through the generated trait: what the other tool consumed is taken
//! from the caller's fuel, and only a function with the store in hand can do that.

use bulkhead_domain::HostCallOutcome;
use bulkhead_policy::{Limits, capabilities::ANY};
use wasmtime::{StoreContextMut, component::Linker};

use super::{
    content::{output_to_guest, tool_error_to_guest},
    missing_grant, unavailable,
    wit::{peers::PeerError as WitError, types::Output},
};
use crate::{
    engine::MAX_PEER_DEPTH,
    services::{PeerError, PeerReply, PeerRequest},
    state::CallState,
};

const INTERFACE: &str = "bulkhead:tool/peers@0.1.0";

pub(super) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.instance(INTERFACE)?.func_wrap_async(
        "call",
        |mut store: StoreContextMut<'_, CallState>, (name, input): (String, String)| {
            Box::new(async move {
                let bytes = name.len() + input.len();
                store.data_mut().breathe(bytes).await;
                let begun = store
                    .data_mut()
                    .recorder
                    .begin("peers", "call", Some(&name), bytes);
                let result = call(&mut store, name, input).await?;
                let outcome = match &result {
                    Ok(_) => HostCallOutcome::Ok,
                    Err(WitError::Denied(_)) => HostCallOutcome::Denied,
                    Err(_) => HostCallOutcome::Failed,
                };
                store.data_mut().recorder.end(begun, 0, outcome);
                Ok((result,))
            })
        },
    )
}

async fn call(
    store: &mut StoreContextMut<'_, CallState>,
    name: String,
    input: String,
) -> wasmtime::Result<Result<Output, WitError>> {
    let fuel = store.get_fuel()?;
    let state = store.data_mut();
    let granted = &state.context.authority.capabilities.peers;
    if !granted.contains(ANY) && !granted.contains(&name) {
        let what = format!("calling the tool \"{name}\"");
        let message = missing_grant(&what, &format!("--peer {name}"));
        state.recorder.deny("peers", message.clone());
        return Ok(Err(WitError::Denied(message)));
    }
    if let Some(message) = state.leak("peers", input.as_bytes()) {
        return Ok(Err(WitError::Denied(message)));
    }
    let context = &state.context;
    if context.chain.len() > MAX_PEER_DEPTH {
        return Ok(Err(WitError::Depth));
    }
    let Some(service) = context.services.peers.clone() else {
        return Ok(Err(WitError::Unavailable(unavailable("other tools"))));
    };
    let limits = Limits {
        fuel,
        timeout_ms: u64::try_from(context.remaining().as_millis()).unwrap_or(u64::MAX),
        memory_bytes: state.limiter.remaining_bytes(),
        ..context.limits.clone()
    };
    let request = PeerRequest {
        name,
        input,
        limits,
        chain: context.chain.clone(),
        cancel: context.cancel.child_token(),
    };
    let PeerReply {
        result,
        fuel: spent,
    } = service.call(request).await;
    store.set_fuel(fuel.saturating_sub(spent.total()))?;
    Ok(result.map(output_to_guest).map_err(WitError::from))
}

impl From<PeerError> for WitError {
    fn from(error: PeerError) -> Self {
        match error {
            PeerError::Unknown => Self::Unknown,
            PeerError::Depth => Self::Depth,
            PeerError::Stopped(outcome, message) => Self::Stopped(format!("{outcome}: {message}")),
            PeerError::Tool(error) => Self::Tool(tool_error_to_guest(error)),
            PeerError::Unavailable(message) => Self::Unavailable(message),
        }
    }
}
