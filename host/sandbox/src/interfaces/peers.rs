//! `bulkhead:tool/peers`: other tools of the same caller, on this call's budget.
//!
//! Linked by hand and not through the generated trait: what the other tool consumed is taken
//! from the caller's fuel, and only a function with the store in hand can do that.

use std::sync::Arc;

use bulkhead_policy::{Limits, capabilities::ANY};
use wasmtime::{StoreContextMut, component::Linker};

use super::{
    content::{output_to_guest, tool_error_to_guest},
    entry::service,
    wit::{peers::PeerError as WitError, types::Output},
};
use crate::{
    engine::MAX_PEER_DEPTH,
    services::{PeerError, PeerReply, PeerRequest, PeersService},
    state::CallState,
};

const INTERFACE: &str = "bulkhead:tool/peers@0.1.0";

pub(super) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    linker.instance(INTERFACE)?.func_wrap_async(
        "call",
        |mut store: StoreContextMut<'_, CallState>, (name, input): (String, String)| {
            Box::new(async move {
                let bytes = name.len() + input.len();
                let state = store.data_mut();
                let begun = state.begin("peers", "call", Some(&name), bytes).await;
                let result = call(&mut store, name, input).await?;
                Ok((store.data_mut().end(begun, result, |_| 0),))
            })
        },
    )
}

fn peers_service(
    state: &mut CallState,
    name: &str,
    input: &str,
) -> Result<Arc<dyn PeersService>, WitError> {
    let peers = &state.context.authority.capabilities.peers;
    let granted = peers.contains(ANY) || peers.contains(name);
    let what = || format!("calling the tool \"{name}\"");
    let flag = || format!("--peer {name}");
    state.require::<WitError>(granted, "peers", what, flag)?;
    state.keep_secrets::<WitError>("peers", &[input.as_bytes()])?;
    if state.context.lineage.depth() > MAX_PEER_DEPTH {
        return Err(WitError::Depth);
    }
    service(state.context.services.peers.clone(), "other tools")
}

async fn call(
    store: &mut StoreContextMut<'_, CallState>,
    name: String,
    input: String,
) -> wasmtime::Result<Result<Output, WitError>> {
    let fuel = store.get_fuel()?;
    let state = store.data_mut();
    let service = match peers_service(state, &name, &input) {
        Ok(service) => service,
        Err(error) => return Ok(Err(error)),
    };
    let context = &state.context;
    let lineage = context.lineage.within(state.session.allowance());
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
        lineage,
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
