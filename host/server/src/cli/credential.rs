//! `bulkhead tool credential`: secrets that the server adds to requests on the way out.

use std::path::Path;

use bulkhead_policy::HttpRule;
use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

use super::{
    capability_args::http_rule,
    client::{Client, ServerArgs, segment},
    error::CliError,
    exit::Exit,
    files,
    screen::Screen,
    view::{array, text},
};

/// Keep secrets that the server adds to requests, and that no tool sees
#[derive(Debug, Subcommand)]
pub(crate) enum CredentialCommand {
    Set(SetArgs),
    List(CredentialListArgs),
    Delete(DeleteArgs),
}

const SET_EXAMPLES: &str = "\
Examples:
  pass show search-key | bulkhead tool credential set search --bearer --audience api.example.com
  bulkhead tool credential set maps --query key --audience maps.example.com --from-env MAPS_KEY

The secret is read from standard input or from an environment variable, never from an argument,
and can't be read back. Tools use it where a grant names it: `bulkhead tool grant … --credential`.";

/// Store a secret, replacing one of the same name
#[derive(Debug, Args)]
#[command(
    after_help = SET_EXAMPLES,
    group = ArgGroup::new("placement").required(true).multiple(false)
)]
pub(crate) struct SetArgs {
    /// Its name, as tools wish for it and grants name it
    name: String,
    /// Sent as `Authorization: Bearer SECRET`
    #[arg(long, group = "placement")]
    bearer: bool,
    /// Sent as this header
    #[arg(long, value_name = "HEADER", group = "placement")]
    header: Option<String>,
    /// Sent as this query parameter
    #[arg(long, value_name = "PARAMETER", group = "placement")]
    query: Option<String>,
    /// Sent as the password of this user (`Authorization: Basic …`)
    #[arg(long, value_name = "USER", group = "placement")]
    basic: Option<String>,
    /// What stands before the secret in --header, such as `Token `
    #[arg(long, requires = "header")]
    prefix: Option<String>,
    /// A host that the secret is meant for; it is sent nowhere else
    #[arg(long, value_name = "HOST", required = true, value_parser = http_rule)]
    audience: Vec<HttpRule>,
    /// Add it to every request to its audience, even where the tool names no credential
    #[arg(long)]
    automatic: bool,
    /// Read the secret from this environment variable instead of standard input
    #[arg(long, value_name = "VAR")]
    from_env: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// List the names and audiences of stored secrets
#[derive(Debug, Args)]
pub(crate) struct CredentialListArgs {
    #[command(flatten)]
    server: ServerArgs,
}

/// Delete a secret
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Its name
    name: String,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn credential(
    command: CredentialCommand,
    screen: Screen,
) -> Result<Exit, CliError> {
    match command {
        CredentialCommand::Set(args) => set(args, screen).await,
        CredentialCommand::List(args) => list(args, screen).await,
        CredentialCommand::Delete(args) => delete(args, screen).await,
    }
}

async fn set(args: SetArgs, screen: Screen) -> Result<Exit, CliError> {
    let secret = match &args.from_env {
        Some(variable) => std::env::var(variable).map_err(|_| {
            CliError::usage(format!("the environment variable {variable} is not set"))
        })?,
        None => files::read_text(Path::new("-"))?,
    };
    // The line end is the terminal's or the file's, not the secret's.
    let secret = secret.trim_end_matches(['\r', '\n']);
    if secret.is_empty() {
        return Err(CliError::usage("the secret is empty")
            .hint("give it on standard input, or name a variable with --from-env"));
    }
    let body = json!({
        "name": args.name,
        "secret": secret,
        "placement": placement(&args),
        "audience": args.audience,
        "automatic": args.automatic,
    });
    let view = Client::new(&args.server)?
        .post("/v1/credentials", &body)
        .await?;
    if screen.json {
        screen.document(&view);
    } else {
        screen.out(format_args!("stored {}", args.name));
    }
    Ok(Exit::Done)
}

fn placement(args: &SetArgs) -> Value {
    if let Some(name) = &args.header {
        let mut header = json!({"type": "header", "name": name});
        if let Some(prefix) = &args.prefix {
            header["prefix"] = json!(prefix);
        }
        return header;
    }
    match (&args.query, &args.basic) {
        (Some(name), _) => json!({"type": "query", "name": name}),
        (_, Some(user)) => json!({"type": "basic", "user": user}),
        _ => json!({"type": "bearer"}),
    }
}

async fn list(args: CredentialListArgs, screen: Screen) -> Result<Exit, CliError> {
    let credentials = Client::new(&args.server)?.get("/v1/credentials").await?;
    if screen.json {
        screen.document(&credentials);
        return Ok(Exit::Done);
    }
    for credential in credentials.as_array().map_or(&[][..], Vec::as_slice) {
        let audience = array(credential, "audience").iter().map(|rule| {
            let parsed = serde_json::from_value::<HttpRule>(rule.clone());
            parsed.map_or_else(|_| rule.to_string(), |rule| rule.to_string())
        });
        screen.out(format_args!(
            "{:<24} {:<8} {}",
            text(credential, "name"),
            text(&credential["placement"], "type"),
            audience.collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(Exit::Done)
}

async fn delete(args: DeleteArgs, screen: Screen) -> Result<Exit, CliError> {
    let path = format!("/v1/credentials/{}", segment(&args.name));
    let answer = Client::new(&args.server)?.delete(&path).await?;
    if screen.json {
        screen.document(&answer);
    } else {
        screen.out(format_args!("deleted {}", args.name));
    }
    Ok(Exit::Done)
}
