//! The types of the runtime's interface.

/// What `wit/tool.wit` generates.
#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all
)]
pub mod bindings {
    wit_bindgen::generate!({
        world: "runtime",
        path: "../../guest-sdk/wit",
        pub_export_macro: true,
        additional_derives: [PartialEq],
    });
}

pub use bindings::{
    bulkhead::tool::{
        http::{HttpError, Request, Response},
        peers::PeerError,
        types::{Content, Output, Problem, ToolError},
    },
    exports::bulkhead::tool::source_runtime::{
        Description, Ended, Environment, Exception, Execution, Fault, Language,
        Parameter as PassedParameter, Source,
    },
};
