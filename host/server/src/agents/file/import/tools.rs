//! The tools of a document: those that are there, and those that are saved.

use std::collections::{HashMap, HashSet};

use bulkhead_store::{NewTool, ToolRecord, ToolType, tool::limits::NAME_MAX};
use serde_json::Value;

use super::{super::tool::FileTool, unheld};
use crate::{
    agents::toolset,
    app::App,
    contract::{Refusal, body},
    http::tools::save::{self, ToolCreate},
    source::{self, COMPONENT},
};

/// A tool of a document, as it will be here.
pub(super) enum Planned {
    /// It is there and stays as it is.
    There(Box<ToolRecord>),
    /// It is saved, in place of one of its name where there is one.
    Save(Box<NewTool>),
}

impl Planned {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::There(tool) => &tool.name,
            Self::Save(tool) => &tool.name,
        }
    }
}

/// What becomes of each tool, in their order. Tools that come with the server are found by their
/// names; tools from source are checked as every tool that is saved.
///
/// 400 that names the tool: one that comes with other servers alone, one without a source, one whose
/// source can't be used, one whose name is another's, one that would get what a person granted to
/// another source.
pub(super) async fn plan(
    app: &App,
    tools: Vec<FileTool>,
    replace: bool,
) -> Result<Vec<Planned>, Refusal> {
    let mut names = HashSet::new();
    for tool in &tools {
        let name = name(tool)?;
        if !names.insert(name.to_owned()) {
            return Err(Refusal::bad_request(format!(
                "The file has two tools named '{name}'"
            )));
        }
    }
    let there = toolset::by_name(app, names.into_iter().collect()).await?;
    let there = there.into_iter().map(|tool| (tool.name.clone(), tool));
    let mut there: HashMap<String, ToolRecord> = there.collect();
    let mut planned = Vec::with_capacity(tools.len());
    for tool in tools {
        let former = there.remove(name(&tool)?);
        planned.push(one(app, tool, former, replace).await?);
    }
    Ok(planned)
}

fn name(tool: &FileTool) -> Result<&str, Refusal> {
    let name = tool.name().ok_or_else(|| {
        Refusal::bad_request(format!(
            "The tool {} of the file needs a name, or a json_schema with one",
            tool.id
        ))
    })?;
    if name.len() > NAME_MAX {
        return Err(Refusal::bad_request(format!(
            "The name of the tool {} of the file has more than {NAME_MAX} bytes",
            tool.id
        )));
    }
    Ok(name)
}

async fn one(
    app: &App,
    tool: FileTool,
    former: Option<ToolRecord>,
    replace: bool,
) -> Result<Planned, Refusal> {
    let name = name(&tool)?.to_owned();
    if tool.tool_type == ToolType::ExternalMcp {
        let there = unheld::there(app, &tool).await?;
        return there.map(Box::new).map(Planned::There).ok_or_else(|| {
            Refusal::bad_request(format!(
                "The file needs the tool '{name}' of an MCP server, which this server does not have"
            ))
        });
    }
    let is_built_in = |tool: &ToolRecord| tool.tool_type.is_letta();
    if tool.tool_type.is_letta() {
        let former = former.filter(is_built_in);
        return former.map(Box::new).map(Planned::There).ok_or_else(|| {
            Refusal::bad_request(format!(
                "The file needs the built-in tool '{name}' ({}), which this server does not have",
                tool.tool_type.as_str()
            ))
        });
    }
    match former {
        // What comes with a server is not replaced by a file.
        Some(former) if !replace || is_built_in(&former) || tool.source().is_none() => {
            Ok(Planned::There(Box::new(former)))
        }
        None if tool.source().is_none() => Err(without_source(&tool, &name)),
        former => {
            if let Some(former) = &former {
                save::expect_replaceable(former)?;
            }
            let new = prepared(app, &tool, &name).await?;
            if let Some(former) = &former {
                expect_ungranted(app, former, &new).await?;
            }
            Ok(Planned::Save(Box::new(new)))
        }
    }
}

/// Whether a call runs the same text and packages after the tool was saved.
fn runs_the_same(former: &ToolRecord, new: &NewTool) -> bool {
    former.source_code == new.source_code
        && former.packages == new.packages
        && source::language(former.source_type.as_deref())
            == source::language(new.source_type.as_deref())
}

/// Refuses to put another source in the place of one to whose name something is granted: a person
/// allowed that source to do it, and who wrote the file is not known. What is granted to all tools
/// from source is granted to any that is saved.
pub(super) async fn expect_ungranted(
    app: &App,
    former: &ToolRecord,
    new: &NewTool,
) -> Result<(), Refusal> {
    if runs_the_same(former, new) {
        return Ok(());
    }
    let name = former.name.as_str();
    let grants = app.registry.grants_of(COMPONENT, name).await?;
    if grants.iter().all(|grant| grant.tool.is_none()) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "The tool '{name}' of the file has another source than the one that is here, to which \
         something is granted; nothing was imported. Revoke the grants of '{name}' \
         (GET /v1/grants?component={COMPONENT}&tool={name}, DELETE /v1/grants/{{grant_id}}), or \
         import with override_existing_tools=false to keep the tool that is here"
    )))
}

fn without_source(tool: &FileTool, name: &str) -> Refusal {
    Refusal::bad_request(match tool.component() {
        Some(component) => format!(
            "The file needs the tool '{name}' of the component '{component}', which this server \
             does not have; push that component first"
        ),
        None => format!("The tool '{name}' of the file has no source_code"),
    })
}

/// A tool from source with everything that can be known of it before it is saved.
async fn prepared(app: &App, tool: &FileTool, name: &str) -> Result<NewTool, Refusal> {
    let body: ToolCreate = body::read(&tool.body()).map_err(|refusal| of_tool(name, refusal))?;
    let new = save::prepare(app, body).await;
    let mut new = new.map_err(|refusal| of_tool(name, refusal))?;
    if new.name != name {
        return Err(Refusal::bad_request(format!(
            "The tool '{name}' of the file is called '{}' by its json_schema or its source",
            new.name
        )));
    }
    let mut noted = tool.noted();
    if let Some(Value::Object(own)) = new.metadata.take() {
        noted.extend(own);
    }
    new.metadata = Some(Value::Object(noted));
    Ok(new)
}

/// The same refusal with the name of the tool.
fn of_tool(name: &str, refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Contract(status, mut body) => {
            if let Some(detail) = body["detail"].as_str() {
                let detail = format!("The tool '{name}' of the file: {detail}");
                body["detail"] = detail.into();
            }
            Refusal::Contract(status, body)
        }
        native @ Refusal::Native(_) => native,
    }
}
