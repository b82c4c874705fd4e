//! The component: what it exports, and its host.

use std::{
    io::{self, Write},
    rc::Rc,
    thread,
    time::Duration,
};

use crate::{
    abi::{
        Description, Environment, Execution, Fault, HttpError, Output, PeerError, Request,
        Response, Source,
        bindings::{
            bulkhead::tool::{http, peers},
            exports::bulkhead::tool::source_runtime::Guest,
        },
    },
    host::{Host, Stream},
};

struct Component;

impl Guest for Component {
    fn describe(source: Source) -> Result<Description, Fault> {
        crate::describe(&source)
    }

    fn call(
        source: Source,
        input: String,
        order: Vec<String>,
        environment: Environment,
    ) -> Execution {
        crate::call(&source, &input, &order, &environment, Rc::new(Imports))
    }

    fn run(source: Source, environment: Environment) -> Execution {
        crate::run(&source, &environment, Rc::new(Imports))
    }
}

#[allow(
    unsafe_code,
    unreachable_pub,
    reason = "the names that the ABI calls are exported by hand"
)]
mod export {
    use super::Component;

    crate::abi::bindings::export!(Component with_types_in crate::abi::bindings);
}

/// The host that the component imports.
struct Imports;

impl Host for Imports {
    fn print(&self, stream: Stream, line: &str) {
        // A host that captures nothing more is no concern of the tool's.
        let _ = match stream {
            Stream::Out => print_to(io::stdout().lock(), line),
            Stream::Error => print_to(io::stderr().lock(), line),
        };
    }

    fn fetch(&self, request: &Request) -> Result<Response, HttpError> {
        http::fetch(request)
    }

    fn call_peer(&self, name: &str, input: &str) -> Result<Output, PeerError> {
        peers::call(name, input)
    }

    fn sleep(&self, duration: Duration) {
        thread::sleep(duration);
    }
}

/// One write for a line, so that it is shown whole.
fn print_to(mut stream: impl Write, line: &str) -> io::Result<()> {
    stream.write_all(format!("{line}\n").as_bytes())?;
    stream.flush()
}
