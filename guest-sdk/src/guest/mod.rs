//! The component's side of the host interfaces: the ABI's types to this crate's and back. One
//! file for each interface of `wit/tool.wit`; a component imports those that it uses.

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
        world: "tool",
        path: "wit",
        pub_export_macro: true,
    });
}

pub(crate) mod agents;
pub(crate) mod context;
pub(crate) mod env;
pub mod exports;
pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod memory;
pub(crate) mod peers;
pub(crate) mod recall;
pub(crate) mod secrets;
pub(crate) mod state;
mod types;

/// The imported interfaces.
use bindings::bulkhead::tool as wit;

/// Texts as the ABI takes them.
fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
