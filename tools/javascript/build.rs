//! The component's stack. The engine's parser takes some 8 KiB of it for each pair of brackets,
//! and the default of 1 MiB ends before the nesting that is accepted does.

use std::env;

/// Bytes in the component's memory; pages that are never touched cost nothing.
const STACK_BYTES: u32 = 4 << 20;

#[allow(
    clippy::print_stdout,
    reason = "a build script talks to cargo on stdout"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
