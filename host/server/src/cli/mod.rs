//! The command line. `bulkhead --help` is its map; each command is a file here.
//!
//! - [`screen`], [`error`], [`exit`]: what commands write and how they end; [`report`],
//!   [`receipt`], [`view`]: calls and components for people.
//! - [`capability_args`], [`units`], [`files`]: how flags are read.
//! - [`run`], [`check`], [`build`], [`scaffold`], [`bench`], [`demo`]: work in this process;
//!   [`runtime_cache`]: what the last two keep.
//! - [`client`], [`sse`]: the HTTP API; [`refusal`]: what it refuses; [`push`], [`list`], [`grant`], [`credential`], [`diff`],
//!   [`call`] use it.
//! - [`user`]: people who sign in, in the database itself.
//! - [`serve`]: the server itself.

mod bench;
mod build;
mod call;
mod capability_args;
mod check;
mod client;
mod credential;
mod demo;
mod diff;
mod error;
mod exit;
mod files;
mod grant;
mod list;
mod push;
mod receipt;
mod refusal;
mod report;
mod run;
mod runtime_cache;
mod scaffold;
mod screen;
mod serve;
mod sse;
mod units;
mod user;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::{error::CliError, exit::Exit, screen::Screen};

const ABOUT: &str = "\
Runs AI agents' tools as WebAssembly components, each call in a fresh sandbox: with fuel, a \
deadline, memory limits, only the capabilities that a person granted, and a receipt.";

const EXAMPLES: &str = "\
Examples:
  bulkhead demo                                  see it work, in a minute
  bulkhead tool new weather                      make a tool …
  bulkhead tool build weather                    … compile it …
  bulkhead run weather.wasm greet -i '{\"name\": \"Ada\"}'    … and call it here
  bulkhead serve                                 start a server …
  bulkhead tool push weather.wasm                … and give it the tool
  bulkhead user create --email ADDRESS --superuser    make the first person who signs in";

/// Characters of a line of help: beyond that, lines are hard to read on any screen.
const HELP_WIDTH: usize = 100;

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "bulkhead", version, long_about = ABOUT, max_term_width = HELP_WIDTH)]
/// Runs AI agents' tools in sandboxes, with grants and receipts
struct Cli {
    /// Write the result as JSON to standard output; everything else goes to standard error
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make, check and build tools, and manage those on a server
    #[command(subcommand)]
    Tool(ToolCommand),
    Run(Box<run::RunArgs>),
    Serve(Box<serve::ServeArgs>),
    #[command(subcommand)]
    User(user::UserCommand),
    Bench(bench::BenchArgs),
    Demo(demo::DemoArgs),
}

#[derive(Debug, Subcommand)]
enum ToolCommand {
    New(scaffold::NewArgs),
    Build(build::BuildArgs),
    Check(check::CheckArgs),
    Push(push::PushArgs),
    List(list::ListArgs),
    Show(list::ShowArgs),
    Diff(diff::DiffArgs),
    Grant(Box<grant::GrantArgs>),
    Revoke(grant::RevokeArgs),
    Call(call::CallArgs),
    #[command(subcommand)]
    Credential(credential::CredentialCommand),
}

/// The program: reads the command line, does what it says, and gives the exit code.
pub fn main() -> ExitCode {
    let cli = match command().try_get_matches() {
        Ok(matches) => match Cli::from_arg_matches(&matches) {
            Ok(cli) => cli,
            Err(error) => error.exit(),
        },
        // Help and version are no errors to clap's exit; a wrong line is code 2.
        Err(error) => error.exit(),
    };
    let screen = Screen::new(cli.json);
    // Only a failure of this process' memory or threads keeps the runtime from starting.
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            screen.error(&CliError::host("the runtime could not be started", error));
            return Exit::Host.into();
        }
    };
    // TLS for servers behind https; a provider that is there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let exit = match runtime.block_on(dispatch(cli.command, screen)) {
        Ok(exit) => exit,
        Err(error) => {
            screen.error(&error);
            error.exit
        }
    };
    // A reader of standard input that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    exit.into()
}

/// The whole command line, with the exit codes at the end of its help.
fn command() -> clap::Command {
    let exit_codes = Exit::help();
    Cli::command().after_help(format!(
        "{EXAMPLES}\n\nUse `bulkhead COMMAND --help` for more.\n\n{exit_codes}"
    ))
}

async fn dispatch(command: Command, screen: Screen) -> Result<Exit, CliError> {
    match command {
        Command::Run(args) => run::run(*args, screen).await,
        Command::Serve(args) => serve::serve(*args, screen).await,
        Command::User(command) => user::user(command, screen).await,
        Command::Bench(args) => bench::bench(args, screen).await,
        Command::Demo(args) => demo::demo(args, screen).await,
        Command::Tool(command) => tool(command, screen).await,
    }
}

async fn tool(command: ToolCommand, screen: Screen) -> Result<Exit, CliError> {
    match command {
        ToolCommand::New(args) => scaffold::new(&args, screen),
        ToolCommand::Build(args) => build::build(args, screen).await,
        ToolCommand::Check(args) => check::check(args, screen).await,
        ToolCommand::Push(args) => push::push(args, screen).await,
        ToolCommand::List(args) => list::list(args, screen).await,
        ToolCommand::Show(args) => list::show(args, screen).await,
        ToolCommand::Diff(args) => diff::diff(args, screen).await,
        ToolCommand::Grant(args) => grant::grant(*args, screen).await,
        ToolCommand::Revoke(args) => grant::revoke(args, screen).await,
        ToolCommand::Call(args) => call::call(args, screen).await,
        ToolCommand::Credential(command) => credential::credential(command, screen).await,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
