//! What each tool of a component wishes for: from the section that the SDK's macro writes, or,
//! where there is none, from what the component imports.

use std::collections::BTreeMap;

use bulkhead_domain::{Problem, ToolInfo};
use bulkhead_policy::{
    Capabilities, FolderRule, HostPattern, HttpRule, MemoryRule, capabilities::ANY,
};
use serde::Deserialize;

use super::inspect::Inspected;
use crate::InstallError;

/// One line of the section.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    tool: String,
    #[serde(default)]
    wishes: Capabilities,
}

/// The wishes of `tools`, in their order.
pub(super) fn of_tools(
    inspected: &Inspected,
    tools: &[&ToolInfo],
) -> Result<Vec<Capabilities>, InstallError> {
    let Some(text) = &inspected.wishes else {
        let wishes = of_imports(inspected);
        return Ok(vec![wishes; tools.len()]);
    };
    let mut named = BTreeMap::<String, Capabilities>::new();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let line: Line = serde_json::from_str(line).map_err(|error| {
            problem(
                format!("/wishes/{at}"),
                format!("not a line of wishes: {error}"),
            )
        })?;
        if !tools.iter().any(|tool| tool.name == line.tool) {
            let message = format!("there is no tool \"{}\"", line.tool);
            return Err(problem(format!("/wishes/{at}"), message));
        }
        line.wishes.validate_wish().map_err(|problems| {
            let located = problems.into_iter().map(|problem| Problem {
                at: format!("/wishes/{at}{}", problem.at),
                ..problem
            });
            InstallError::Description(located.collect())
        })?;
        named.entry(line.tool).or_default().union(&line.wishes);
    }
    Ok(tools
        .iter()
        .map(|tool| named.remove(&tool.name).unwrap_or_default())
        .collect())
}

fn problem(at: String, message: String) -> InstallError {
    InstallError::Description(vec![Problem { at, message }])
}

/// What a component that says nothing may wish for: all that its imports could reach. A person
/// grants from it what they think fit.
fn of_imports(inspected: &Inspected) -> Capabilities {
    let imports = |interface: &str| inspected.imports_interface(interface);
    let any = |wanted: bool| wanted.then(|| ANY.to_owned()).into_iter().collect();
    let http = imports("bulkhead:tool/http") || imports("wasi:http/outgoing-handler");
    let memory = imports("bulkhead:tool/memory");
    let anywhere = FolderRule {
        host: String::new(),
        guest: ANY.to_owned(),
        write: true,
        quota_bytes: None,
    };
    Capabilities {
        http: http
            .then(|| HttpRule::to_host(HostPattern::ANY, None))
            .into_iter()
            .collect(),
        credentials: any(http),
        reveal: any(imports("bulkhead:tool/secrets")),
        state: imports("bulkhead:tool/state"),
        memory: memory.then(|| MemoryRule {
            labels: any(true),
            write: true,
        }),
        recall: imports("bulkhead:tool/recall"),
        files: imports("bulkhead:tool/files"),
        agents: any(imports("bulkhead:tool/agents")),
        peers: any(imports("bulkhead:tool/peers")),
        env: any(imports("wasi:cli/environment")),
        folders: imports("wasi:filesystem/preopens")
            .then_some(anywhere)
            .into_iter()
            .collect(),
    }
}
