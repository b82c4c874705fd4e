//! The program `bulkhead`.

use std::process::ExitCode;

fn main() -> ExitCode {
    bulkhead_server::cli::main()
}
