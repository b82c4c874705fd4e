//! Embeds the sandbox: `cargo run -p bulkhead-sandbox --example embed -- TOOL.wasm NAME '{"a": 1}'`.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use bulkhead_sandbox::{Call, Sandbox, Settings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: embed FILE TOOL INPUT";
    let file = arguments.next().ok_or(usage)?;
    let (tool, input) = (
        arguments.next().ok_or(usage)?,
        arguments.next().ok_or(usage)?,
    );

    let sandbox = Sandbox::new(Settings::default())?;
    let component = sandbox.install(std::fs::read(file)?).await?;
    let report = sandbox.call(&component, Call::new(tool, input)).await;
    println!("{}", report.result?.text());
    println!(
        "{} units of fuel, {} µs",
        report.receipt.fuel.total(),
        report.receipt.wall_us
    );
    Ok(())
}
