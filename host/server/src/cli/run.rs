//! `bulkhead run`: one call in this process, without a server.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bulkhead_egress::{Credential, Placement, Secret};
use bulkhead_policy::{Capabilities, HttpRule, Limits};
use bulkhead_sandbox::{Authority, Call, Component, EventSink, Sandbox, Services, Settings};
use bulkhead_testkit::{InMemoryBlocks, InMemoryState};
use clap::Args;

use super::{
    capability_args::{CapabilityArgs, http_rule, variable},
    error::CliError,
    exit::Exit,
    files,
    report::{self, event_line},
    screen::{Paint, Screen},
    units,
};

const EXAMPLES: &str = "\
Examples:
  bulkhead run greeter.wasm greet --input '{\"name\": \"Ada\"}'
  bulkhead run fetch_webpage.wasm --input @page.json --allow-host '*.wikipedia.org'
  echo '{\"q\": \"rust\"}' | bulkhead run search.wasm --input - \\
      --allow-host api.search.example --credential-env search=SEARCH_KEY@api.search.example
  bulkhead run untrusted.wasm main --fuel 10M --memory 16MiB --timeout 2s --json

The call runs in this process, in a fresh sandbox, with only the capabilities that the flags grant.
The result goes to standard output; progress, log lines and the receipt go to standard error.
State and memory blocks last as long as this command. `bulkhead --help` lists the exit codes.";

/// Call a tool of a component file, without a server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The component, a .wasm file
    file: PathBuf,
    /// The tool; may be left out if the component has one tool
    tool: Option<String>,
    /// The input as JSON, as `@FILE`, or `-` for standard input
    #[arg(long, short, value_name = "JSON", default_value = "{}")]
    input: String,
    /// Fuel, about one WebAssembly instruction a unit, such as 10M
    #[arg(long, value_parser = units::fuel, help_heading = "Limits")]
    fuel: Option<u64>,
    /// Memory, such as 64MiB
    #[arg(long, value_name = "SIZE", value_parser = units::bytes, help_heading = "Limits")]
    memory: Option<u64>,
    /// Wall-clock time, such as 500ms or 5s
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Limits")]
    timeout: Option<Duration>,
    #[command(flatten)]
    grant: CapabilityArgs,
    /// Add a credential from an environment variable to requests to a host, as
    /// `Authorization: Bearer …`; the tool never sees it
    #[arg(
        long,
        value_name = "NAME=VAR@HOST",
        value_parser = credential_env,
        help_heading = "Capabilities"
    )]
    credential_env: Vec<CredentialEnv>,
    /// The agent on whose behalf the call is made
    #[arg(long, value_name = "AGENT", help_heading = None)]
    agent_id: Option<String>,
    /// Say nothing on standard error but errors
    #[arg(long, short, help_heading = None)]
    quiet: bool,
}

/// `NAME=VAR@HOST`.
#[derive(Debug, Clone)]
struct CredentialEnv {
    name: String,
    variable: String,
    host: HttpRule,
}

fn credential_env(text: &str) -> Result<CredentialEnv, String> {
    let parts = text
        .split_once('=')
        .and_then(|(name, rest)| {
            rest.split_once('@')
                .map(|(variable, host)| (name, variable, host))
        })
        .filter(|(name, variable, _)| !name.is_empty() && !variable.is_empty());
    let (name, variable, host) =
        parts.ok_or("expected NAME=VAR@HOST, such as search=SEARCH_KEY@api.example.com")?;
    Ok(CredentialEnv {
        name: name.to_owned(),
        variable: variable.to_owned(),
        host: http_rule(host)?,
    })
}

pub(crate) async fn run(args: RunArgs, screen: Screen) -> Result<Exit, CliError> {
    let input = read_input(&args.input)?;
    let granted = granted(&args)?;
    let credentials = credentials(&args.credential_env)?;
    let services = services(&args, &granted)?;
    let component = install(&args.file, &screen, args.quiet).await?;
    let (sandbox, component) = component;
    let tool = tool(&component, args.tool.as_deref())?;
    if !args.quiet {
        mention_unwished(&component, &tool, &granted, &screen);
    }
    let name = args
        .file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("component");
    let authority = Authority::for_tool(
        &component,
        &tool,
        &granted,
        None,
        credentials,
        format!("{name}/{tool}"),
    )
    .unwrap_or_else(Authority::none);
    let mut call = Call::new(tool, input)
        .with_authority(authority)
        .with_limits(limits(&args))
        .with_services(services);
    call.agent_id = args.agent_id.clone();
    if !args.quiet {
        call = call.with_events(printer(screen));
    }
    let cancel = call.cancel.clone();
    let interrupt = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    });
    let report = sandbox.call(&component, call).await;
    interrupt.abort();
    report::show(&report, &screen, args.quiet);
    Ok(Exit::of(report.receipt.outcome))
}

/// A sandbox for one call, and the component in it.
async fn install(
    file: &Path,
    screen: &Screen,
    quiet: bool,
) -> Result<(Sandbox, Component), CliError> {
    let bytes = files::read_component(file)?;
    if !quiet {
        let size = units::show_bytes(bytes.len() as u64);
        let line = format!("compiling {} ({size})", file.display());
        screen.note(screen.paint_err(line, Paint::Dim));
    }
    let sandbox = sandbox()?;
    let component = sandbox
        .install(bytes)
        .await
        .map_err(|error| CliError::install(&error))?;
    Ok((sandbox, component))
}

/// A sandbox for a command that makes a call or two: no slots to prepare for a thousand.
pub(crate) fn sandbox() -> Result<Sandbox, CliError> {
    let settings = Settings {
        slots: 4,
        pooling: false,
        ..Settings::default()
    };
    Sandbox::new(settings).map_err(|error| CliError::host("the sandbox could not be set up", error))
}

/// The input as JSON text: given, from a file, or from standard input.
pub(crate) fn read_input(text: &str) -> Result<String, CliError> {
    let text = match text.strip_prefix('@') {
        Some(path) => files::read_text(Path::new(path))?,
        None if text == "-" => files::read_text(Path::new("-"))?,
        None => text.to_owned(),
    };
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("the input is no JSON: {error}");
            Err(CliError::new(Exit::InvalidInput, "invalid_json", message)
                .hint(r#"write it like --input '{"name": "Ada"}', or read it with @FILE or -"#))
        }
    }
}

fn granted(args: &RunArgs) -> Result<Capabilities, CliError> {
    let mut granted = args.grant.capabilities()?;
    granted
        .credentials
        .extend(args.credential_env.iter().map(|entry| entry.name.clone()));
    Ok(granted)
}

fn credentials(entries: &[CredentialEnv]) -> Result<Vec<Credential>, CliError> {
    let credential = |entry: &CredentialEnv| {
        let secret = std::env::var(&entry.variable).map_err(|_| {
            let message = format!("the environment variable {} is not set", entry.variable);
            CliError::usage(message)
        })?;
        let secret = Secret::new(secret)
            .map_err(|error| CliError::usage(format!("{}: {error}", entry.variable)))?;
        Ok(Credential {
            name: entry.name.clone(),
            secret,
            placement: Placement::Bearer,
            audience: vec![entry.host.clone()],
            automatic: true,
        })
    };
    entries.iter().map(credential).collect()
}

/// Services that last as long as the command.
fn services(args: &RunArgs, granted: &Capabilities) -> Result<Services, CliError> {
    let blocks = InMemoryBlocks::new();
    if let Some(memory) = &granted.memory {
        for label in memory
            .labels
            .iter()
            .filter(|label| *label != bulkhead_policy::capabilities::ANY)
        {
            blocks.set(label.clone(), "");
        }
    }
    let mut env = BTreeMap::new();
    for entry in &args.grant.env {
        match variable(entry) {
            (name, Some(value)) => env.insert(name.to_owned(), value.to_owned()),
            (name, None) => match std::env::var(name) {
                Ok(value) => env.insert(name.to_owned(), value),
                Err(_) => {
                    let message = format!("the environment variable {name} is not set");
                    return Err(CliError::usage(message).hint("give it as --env NAME=VALUE"));
                }
            },
        };
    }
    Ok(Services {
        state: Some(Arc::new(InMemoryState::new())),
        memory: Some(Arc::new(blocks)),
        env: Arc::new(env),
        ..Services::default()
    })
}

fn limits(args: &RunArgs) -> Limits {
    let mut limits = Limits::default();
    limits.fuel = args.fuel.unwrap_or(limits.fuel);
    limits.memory_bytes = args.memory.unwrap_or(limits.memory_bytes);
    if let Some(timeout) = args.timeout {
        limits.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    }
    limits
}

/// The tool that was asked for, or the only one.
fn tool(component: &Component, asked: Option<&str>) -> Result<String, CliError> {
    let names: Vec<&str> = component
        .tools()
        .map(|(info, _)| info.name.as_str())
        .collect();
    let list = names.join(", ");
    match (asked, names.as_slice()) {
        (Some(asked), names) if names.contains(&asked) => Ok(asked.to_owned()),
        (Some(asked), _) => {
            let message = format!("the component has no tool `{asked}`; it has: {list}");
            Err(CliError::new(Exit::InvalidInput, "unknown_tool", message))
        }
        (None, [only]) => Ok((*only).to_owned()),
        (None, _) => Err(CliError::usage(format!(
            "the component has several tools; name one of: {list}"
        ))),
    }
}

/// Says what is granted in vain: a person who grants something expects that it counts.
fn mention_unwished(component: &Component, tool: &str, granted: &Capabilities, screen: &Screen) {
    let Some(wishes) = component.tool_wishes(tool) else {
        return;
    };
    let effective = granted.limited_to(wishes);
    if effective == Capabilities::default() && *granted != Capabilities::default() {
        let line = format!("note: {tool} wishes for none of what is granted, so it gets nothing");
        screen.note(screen.paint_err(line, Paint::Yellow));
    }
}

/// Prints events as they happen.
fn printer(screen: Screen) -> EventSink {
    Arc::new(move |event| screen.note(event_line(&event, &screen)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_names_its_variable_and_its_host() {
        let entry = credential_env("search=KEY@api.example.com").expect("valid");
        assert_eq!(
            (entry.name.as_str(), entry.variable.as_str()),
            ("search", "KEY")
        );
        for text in [
            "",
            "search",
            "search=KEY",
            "=KEY@h",
            "search=@h",
            "search=KEY@no host",
        ] {
            assert!(credential_env(text).is_err(), "{text}");
        }
    }

    #[test]
    fn input_that_is_no_json_is_refused_before_anything_is_compiled() {
        let error = read_input("{name: Ada}").expect_err("no JSON");
        assert_eq!(
            (error.exit, error.code.as_str()),
            (Exit::InvalidInput, "invalid_json")
        );
        assert_eq!(read_input("[1]").expect("JSON"), "[1]");
    }
}
