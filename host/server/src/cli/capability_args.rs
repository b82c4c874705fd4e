//! Flags that name capabilities: the same for `run`, which grants for one call, and for
//! `tool grant`, which grants until it is revoked.

use std::{collections::BTreeSet, path::PathBuf};

use bulkhead_policy::{Capabilities, Cidr, FolderRule, HttpRule, MemoryRule};
use clap::Args;

use super::error::CliError;

/// What is granted. A call gets what its tool wishes for, as far as it is granted here.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Capabilities")]
pub(crate) struct CapabilityArgs {
    /// Allow requests to a host: `example.com`, `*.example.com` (one label), `*` (any public
    /// host), with scheme, port and path where wanted: `http://localhost:8080/api`. Without a
    /// scheme https is meant; `any://` is both
    #[arg(long, value_name = "HOST", value_parser = http_rule)]
    pub(crate) allow_host: Vec<HttpRule>,
    /// Open a range of private addresses to every --allow-host of this command, such as
    /// 127.0.0.0/8 or 10.1.0.0/16. Without it no request reaches a private address
    #[arg(long, value_name = "CIDR", value_parser = cidr)]
    pub(crate) allow_private: Vec<Cidr>,
    /// Allow only these methods for every --allow-host of this command, such as GET
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub(crate) method: Vec<String>,
    /// Let the host add this credential to requests on their way out; the tool never sees it
    #[arg(long, value_name = "NAME")]
    pub(crate) credential: Vec<String>,
    /// Let the tool itself read this credential
    #[arg(long, value_name = "NAME")]
    pub(crate) reveal: Vec<String>,
    /// Allow small durable state of the tool's own
    #[arg(long)]
    pub(crate) state: bool,
    /// Allow the agent's memory blocks of these labels; `*` for all, `:rw` to change them too
    #[arg(long, value_name = "LABEL[:rw]", value_delimiter = ',')]
    pub(crate) memory_blocks: Vec<String>,
    /// Allow the agent's archive and conversation
    #[arg(long)]
    pub(crate) recall: bool,
    /// Allow the files that are attached to the agent
    #[arg(long)]
    pub(crate) files: bool,
    /// Allow messages to this agent; `*` for any
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
    /// Allow calls of this other tool; `*` for any
    #[arg(long, value_name = "TOOL")]
    pub(crate) peer: Vec<String>,
    /// Allow an environment variable
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,
    /// Show a folder of this machine to the tool, read-only unless `:rw` follows
    #[arg(long, value_name = "HOST:GUEST[:rw]", value_parser = folder)]
    pub(crate) folder: Vec<FolderRule>,
    /// Read capabilities from a file (`-` for standard input), in the JSON form of the API;
    /// flags add to it
    #[arg(long, value_name = "FILE")]
    pub(crate) capabilities: Option<PathBuf>,
}

impl CapabilityArgs {
    /// The capabilities that the flags name.
    pub(crate) fn capabilities(&self) -> Result<Capabilities, CliError> {
        let mut all = match &self.capabilities {
            Some(path) => from_file(path)?,
            None => Capabilities::default(),
        };
        all.http.extend(self.http_rules()?);
        all.credentials.extend(self.credential.iter().cloned());
        all.reveal.extend(self.reveal.iter().cloned());
        all.state |= self.state;
        all.recall |= self.recall;
        all.files |= self.files;
        all.agents.extend(self.agent.iter().cloned());
        all.peers.extend(self.peer.iter().cloned());
        all.env
            .extend(self.env.iter().map(|entry| variable(entry).0.to_owned()));
        all.folders.extend(self.folder.iter().cloned());
        if !self.memory_blocks.is_empty() {
            let memory = all.memory.get_or_insert_with(MemoryRule::default);
            for block in &self.memory_blocks {
                let label = block.strip_suffix(":rw");
                memory.write |= label.is_some();
                memory.labels.insert(label.unwrap_or(block).to_owned());
            }
        }
        Ok(all)
    }

    fn http_rules(&self) -> Result<Vec<HttpRule>, CliError> {
        if self.allow_host.is_empty() && (!self.allow_private.is_empty() || !self.method.is_empty())
        {
            return Err(CliError::usage(
                "--allow-private and --method narrow or widen an --allow-host; give one too",
            ));
        }
        let methods: BTreeSet<String> = self.method.iter().cloned().collect();
        let rules = self.allow_host.iter().cloned().map(|mut rule| {
            rule.private.extend(self.allow_private.iter().copied());
            if !methods.is_empty() {
                rule.methods = Some(methods.clone());
            }
            rule
        });
        Ok(rules.collect())
    }
}

/// An environment variable as `NAME` or `NAME=VALUE`.
pub(crate) fn variable(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

fn from_file(path: &std::path::Path) -> Result<Capabilities, CliError> {
    let text = super::files::read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        CliError::new(
            super::exit::Exit::Usage,
            "invalid_capabilities",
            format!("{} holds no capabilities: {error}", path.display()),
        )
        .hint(r#"for example {"http": ["api.example.com"], "state": true}"#)
    })
}

/// A rule in its short form.
pub(crate) fn http_rule(text: &str) -> Result<HttpRule, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn cidr(text: &str) -> Result<Cidr, String> {
    text.parse().map_err(|error| format!("{error}"))
}

fn method(text: &str) -> Result<String, String> {
    let method = text.to_ascii_uppercase();
    if !method.is_empty()
        && method
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'-')
    {
        Ok(method)
    } else {
        Err("expected a method such as GET".to_owned())
    }
}

fn folder(text: &str) -> Result<FolderRule, String> {
    let (text, write) = match text.strip_suffix(":rw") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (host, guest) = text
        .rsplit_once(':')
        .filter(|(host, guest)| !host.is_empty() && guest.starts_with('/'))
        .ok_or("expected HOST:GUEST or HOST:GUEST:rw, such as ./notes:/notes:rw")?;
    let host = std::fs::canonicalize(host).map_err(|error| format!("{host}: {error}"))?;
    let host = host
        .to_str()
        .ok_or("the folder's path is not valid UTF-8")?
        .to_owned();
    Ok(FolderRule {
        host,
        guest: guest.to_owned(),
        write,
        quota_bytes: None,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: CapabilityArgs,
    }

    fn parse(line: &[&str]) -> CapabilityArgs {
        Line::try_parse_from([&["test"], line].concat())
            .expect("a valid line")
            .args
    }

    #[test]
    fn flags_become_one_set_of_capabilities() {
        let all = parse(&[
            "--allow-host",
            "example.com",
            "--allow-private",
            "127.0.0.0/8",
            "--method",
            "get",
            "--state",
            "--memory-blocks",
            "human,persona:rw",
            "--env",
            "LANG=de",
            "--folder",
            "/:/all",
        ])
        .capabilities()
        .expect("capabilities");
        assert_eq!(all.http.len(), 1);
        assert_eq!(all.http[0].private.len(), 1);
        assert_eq!(all.http[0].methods, Some(["GET".to_owned()].into()));
        assert!(all.state && !all.recall);
        let memory = all.memory.expect("memory");
        assert_eq!(
            memory.labels,
            ["human".to_owned(), "persona".to_owned()].into()
        );
        assert!(memory.write);
        assert_eq!(all.env, ["LANG".to_owned()].into());
        assert_eq!(all.folders[0].guest, "/all");
        assert!(!all.folders[0].write);
    }

    #[test]
    fn a_private_range_without_a_host_is_refused() {
        let error = parse(&["--allow-private", "10.0.0.0/8"])
            .capabilities()
            .expect_err("no host");
        assert_eq!(error.code, "usage");
    }

    #[test]
    fn malformed_flags_are_refused_at_once() {
        for line in [
            ["--allow-host", "exa mple"],
            ["--allow-private", "10/8"],
            ["--method", ""],
            ["--folder", "/tmp"],
            ["--folder", "/no/such/folder/at/all:/x"],
        ] {
            assert!(
                Line::try_parse_from([&["test"], &line[..]].concat()).is_err(),
                "{line:?}"
            );
        }
    }
}
