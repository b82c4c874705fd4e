//! The host side of each WIT interface: one file an interface, named alike. Each function
//! checks the call's grant, calls the service behind it, and records both.

mod agents;
mod content;
mod context;
mod entry;
mod files;
pub(crate) mod filesystem;
mod http;
mod memory;
mod peers;
mod recall;
pub(crate) mod runtime;
mod secrets;
mod state;
pub(crate) mod wasi_http;

pub(crate) mod bindings {
    //! Generated from `guest-sdk/wit/tool.wit`.
    #![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]

    wasmtime::component::bindgen!({
        path: "../../guest-sdk/wit",
        world: "tool",
        imports: {
            "bulkhead:tool/context.call-id": trappable,
            "bulkhead:tool/context.idempotency-key": trappable,
            "bulkhead:tool/context.agent-id": trappable,
            "bulkhead:tool/context.remaining-ms": trappable,
            "bulkhead:tool/secrets": trappable,
            default: async | trappable,
        },
        exports: { default: async },
        require_store_data_send: true,
    });
}

pub(crate) mod runtime_bindings {
    //! Generated from the world of language runtimes, on the types above.
    #![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]

    wasmtime::component::bindgen!({
        path: "../../guest-sdk/wit",
        world: "runtime",
        with: {
            "bulkhead:tool/types": super::bindings::bulkhead::tool::types,
            "bulkhead:tool/context": super::bindings::bulkhead::tool::context,
            "bulkhead:tool/http": super::bindings::bulkhead::tool::http,
            "bulkhead:tool/state": super::bindings::bulkhead::tool::state,
            "bulkhead:tool/peers": super::bindings::bulkhead::tool::peers,
        },
        exports: { default: async },
        require_store_data_send: true,
    });
}

pub(crate) use bindings::{ToolPre as NativeEntry, bulkhead::tool as wit};
pub(crate) use content::{output_from_guest, tool_error_from_guest, tool_info_from_guest};
pub(crate) use runtime_bindings::RuntimePre as RuntimeEntry;

use wasmtime::component::{HasSelf, Linker};

use crate::state::CallState;

/// The version of the ABI that this host speaks: `bulkhead:tool/tools@…`.
pub(crate) const TOOLS_INTERFACE: &str = "bulkhead:tool/tools@0.1.0";

/// What a language runtime exports in this version of the ABI.
pub(crate) const RUNTIME_INTERFACE: &str = "bulkhead:tool/source-runtime@0.1.0";

/// Links every `bulkhead:tool` interface.
pub(crate) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    type S = CallState;
    type D = HasSelf<CallState>;
    wit::types::add_to_linker::<S, D>(linker, |state| state)?;
    wit::context::add_to_linker::<S, D>(linker, |state| state)?;
    wit::http::add_to_linker::<S, D>(linker, |state| state)?;
    wit::state::add_to_linker::<S, D>(linker, |state| state)?;
    wit::memory::add_to_linker::<S, D>(linker, |state| state)?;
    wit::recall::add_to_linker::<S, D>(linker, |state| state)?;
    wit::files::add_to_linker::<S, D>(linker, |state| state)?;
    wit::agents::add_to_linker::<S, D>(linker, |state| state)?;
    peers::add_to_linker(linker)?;
    wit::secrets::add_to_linker::<S, D>(linker, |state| state)?;
    Ok(())
}
