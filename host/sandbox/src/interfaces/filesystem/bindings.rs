//! Generated from `wit/`. Streams, polls and clocks are wasmtime-wasi's own types, so that a
//! file's stream is a stream like any other to the rest of WASI.

wasmtime::component::bindgen!({
    path: "wit",
    world: "bulkhead:folders/folders",
    imports: {
        "wasi:filesystem/types.filesystem-error-code": trappable,
        "wasi:filesystem/types.[method]descriptor.read-via-stream": trappable,
        "wasi:filesystem/types.[method]descriptor.write-via-stream": trappable,
        "wasi:filesystem/types.[method]descriptor.append-via-stream": trappable,
        "wasi:filesystem/types.[method]descriptor.advise": trappable,
        "wasi:filesystem/types.[method]descriptor.get-flags": trappable,
        "wasi:filesystem/types.[method]descriptor.get-type": trappable,
        "wasi:filesystem/types.[drop]descriptor": trappable,
        "wasi:filesystem/types.[drop]directory-entry-stream": trappable,
        "wasi:filesystem/preopens.get-directories": trappable,
        default: async | trappable,
    },
    trappable_error_type: {
        "wasi:filesystem/types.error-code" => super::error::FsError,
    },
    with: {
        "wasi:io": wasmtime_wasi::p2::bindings::io,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": super::descriptor::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": super::listing::Listing,
    },
});

pub(super) use wasi::filesystem::{preopens, types};
