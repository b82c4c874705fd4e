//! `bulkhead tool grant` and `bulkhead tool revoke`: what a person allows a component.

use clap::Args;
use serde_json::{Map, Value, json};

use super::{
    capability_args::CapabilityArgs,
    client::{Client, ServerArgs, segment},
    diff,
    error::CliError,
    exit::Exit,
    list::show_grant,
    screen::{Paint, Screen},
    units,
    view::text,
};

const EXAMPLES: &str = "\
Examples:
  bulkhead tool grant fetch_webpage --allow-host any://*
  bulkhead tool grant search --allow-host api.example.com --credential search --tool web_search
  bulkhead tool grant notes --folder ./notes:/notes:rw --state --note 'for the weekly report'
  bulkhead tool grant search --accept sha256:9f2c…

A grant allows what the component also wishes for, and adds to earlier grants. An environment
variable is named here and its value is set where the server runs.";

/// What a digest begins with.
const ALGORITHM: &str = "sha256:";

/// Allow a component capabilities, or accept a version that waits for consent
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GrantArgs {
    /// The component's name
    component: String,
    /// Only for this tool of the component
    #[arg(long)]
    tool: Option<String>,
    /// Accept this pending version: shows what it wants more, then makes it the active one. The
    /// beginning of its digest is enough where no other version begins so
    #[arg(long, value_name = "DIGEST")]
    accept: Option<String>,
    #[command(flatten)]
    capabilities: CapabilityArgs,
    /// Fuel that a call may spend under this grant, such as 10G
    #[arg(long, value_parser = units::fuel, help_heading = "Limits")]
    fuel: Option<u64>,
    /// Memory that a call may use under this grant, such as 256MiB
    #[arg(long, value_name = "SIZE", value_parser = units::bytes, help_heading = "Limits")]
    memory: Option<u64>,
    /// Time that a call may take under this grant, such as 2m
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Limits")]
    timeout: Option<std::time::Duration>,
    /// Why, for whoever reads the list of grants
    #[arg(long, help_heading = None)]
    note: Option<String>,
    /// When the grant ends, such as 2026-12-31T00:00:00Z
    #[arg(long, value_name = "TIME", help_heading = None)]
    expires_at: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn grant(args: GrantArgs, screen: Screen) -> Result<Exit, CliError> {
    let capabilities = args.capabilities.capabilities()?;
    let limits = limits(&args);
    let grants = !capabilities.is_empty() || !limits.is_empty();
    if !grants && args.accept.is_none() {
        return Err(CliError::usage("nothing is granted")
            .hint("name a capability, such as --allow-host example.com; see --help"));
    }
    let client = Client::new(&args.server)?;
    let mut done = Map::new();
    if let Some(digest) = &args.accept {
        done.insert(
            "accepted".to_owned(),
            accept(&client, &args.component, digest, &screen).await?,
        );
    }
    if grants {
        let mut body = json!({"component": args.component, "capabilities": capabilities});
        let mut set = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                body[key] = json!(value);
            }
        };
        set("tool", args.tool);
        set("note", args.note);
        set("expires_at", args.expires_at);
        if !limits.is_empty() {
            body["limits"] = Value::Object(limits);
        }
        let grant = client.post("/v1/grants", &body).await?;
        if !screen.json {
            screen.out(screen.paint("granted", Paint::Green));
            show_grant(&grant, &screen);
        }
        done.insert("grant".to_owned(), grant);
    }
    if screen.json {
        screen.document(&done);
    }
    Ok(Exit::Done)
}

fn limits(args: &GrantArgs) -> Map<String, Value> {
    let timeout = args
        .timeout
        .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let limits = [
        ("fuel", args.fuel),
        ("memory_bytes", args.memory),
        ("timeout_ms", timeout),
    ];
    let given = limits
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), json!(value?))));
    given.collect()
}

/// Shows what the version wants more, and makes it the active one.
async fn accept(
    client: &Client,
    name: &str,
    digest: &str,
    screen: &Screen,
) -> Result<Value, CliError> {
    let path = "/v1/components";
    let versions = client.all(path, &[("name", name)], "digest").await?;
    let path = format!("{path}/{}", segment(version(name, &versions, digest)?));
    let wanted = client.get(&format!("{path}/diff")).await?;
    if !screen.json {
        diff::show(&wanted, screen);
    }
    let view = client.post(&format!("{path}/activate"), &json!({})).await?;
    if !screen.json {
        let line = format!("{} is active now", text(&view, "digest"));
        screen.out(screen.paint(line, Paint::Green));
    }
    Ok(json!({"component": view, "diff": wanted}))
}

/// The one of `versions`, which are those of component `name`, whose digest begins as `wanted`.
fn version<'a>(name: &str, versions: &'a [Value], wanted: &str) -> Result<&'a str, CliError> {
    let refused = |message: String| {
        let hint = format!("`bulkhead tool list {name}` shows its versions");
        Err(CliError::usage(message).hint(hint))
    };
    // As it is printed where there is little room.
    let start = wanted.trim_end_matches('…');
    let start = start.strip_prefix(ALGORITHM).unwrap_or(start);
    if start.is_empty() {
        return refused(format!("`{wanted}` is no digest"));
    }
    let mut found = versions
        .iter()
        .map(|version| text(version, "digest"))
        .filter(|digest| {
            digest
                .strip_prefix(ALGORITHM)
                .is_some_and(|hex| hex.starts_with(start))
        });
    match (found.next(), found.next()) {
        (Some(digest), None) => Ok(digest),
        (Some(_), Some(_)) => refused(format!(
            "more than one version of {name} begins with {wanted}"
        )),
        (None, _) => refused(format!("{name} has no version {wanted}")),
    }
}

const REVOKE_EXAMPLES: &str = "\
Examples:
  bulkhead tool revoke grant-0b6f…
  bulkhead tool revoke search --all";

/// Take a grant back; calls that begin afterwards do without it
#[derive(Debug, Args)]
#[command(after_help = REVOKE_EXAMPLES)]
pub(crate) struct RevokeArgs {
    /// A grant's id, or with --all the component's name
    grant: String,
    /// Every grant of the component
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn revoke(args: RevokeArgs, screen: Screen) -> Result<Exit, CliError> {
    let client = Client::new(&args.server)?;
    let ids = if args.all {
        // Every grant first, then each of them: what is granted meanwhile was not meant.
        let grants = client
            .all("/v1/grants", &[("component", &args.grant)], "id")
            .await?;
        let ids = grants.iter().map(|grant| text(grant, "id").to_owned());
        ids.collect()
    } else {
        vec![args.grant]
    };
    for id in &ids {
        let revoked = client.delete(&format!("/v1/grants/{}", segment(id))).await;
        match revoked {
            // Somebody else was faster.
            Err(error) if args.all && error.code == "unknown_grant" => {}
            revoked => {
                revoked?;
            }
        }
    }
    if screen.json {
        screen.document(&json!({"revoked": ids}));
    } else {
        for id in &ids {
            screen.out(format_args!("revoked {id}"));
        }
        if ids.is_empty() {
            screen.note("there was nothing to revoke");
        }
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_by_the_beginning_of_its_digest_and_only_among_its_component_s() {
        let versions = [
            json!({"digest": "sha256:abc1"}),
            json!({"digest": "sha256:abd2"}),
        ];
        for wanted in ["abc", "sha256:abc", "sha256:abc…", "sha256:abc1"] {
            let found = version("demo", &versions, wanted).expect(wanted);
            assert_eq!(found, "sha256:abc1", "{wanted}");
        }
        for wanted in ["ab", "sha256:", "", "…", "sha256:f", "demo", "abc12"] {
            let error = version("demo", &versions, wanted).expect_err(wanted);
            assert_eq!(error.exit, Exit::Usage, "{wanted}");
        }
    }
}
