//! The install path: bytes of any kind, and valid components made by wasm-smith.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::{Arbitrary, Unstructured};
use bulkhead_sandbox::{Sandbox, Settings};
use libfuzzer_sys::fuzz_target;

struct Host {
    runtime: tokio::runtime::Runtime,
    sandbox: Sandbox,
}

static HOST: LazyLock<Host> = LazyLock::new(|| Host {
    runtime: tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime"),
    sandbox: Sandbox::new(Settings { slots: 4, ..Settings::default() }).expect("an engine"),
});

fuzz_target!(|data: &[u8]| {
    let mut input = Unstructured::new(data);
    let bytes: Arc<[u8]> = match bool::arbitrary(&mut input) {
        Ok(true) => match wasm_smith::Component::arbitrary(&mut input) {
            Ok(component) => component.to_bytes().into(),
            Err(_) => return,
        },
        _ => [b"\0asm\x0d\0\x01\0", input.take_rest()].concat().into(),
    };
    // Must neither panic nor take longer than its own budget, whatever the bytes are.
    let _ = HOST.runtime.block_on(HOST.sandbox.install(bytes));
});
