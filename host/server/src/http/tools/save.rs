//! Create, upsert, update and delete.

use axum::{
    Json,
    extract::{Path, State},
};
use bulkhead_domain::Digest;
use bulkhead_sandbox::{Language, MAX_SOURCE_BYTES};
use bulkhead_store::{NewTool, StoreError, ToolRecord, ToolType, Upserted};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    list,
    view::{Requirement, ToolView},
};
use crate::{
    app::App,
    contract::{Body, Refusal, body::Schema, document::Refusals, id},
    http::{AppState, unbroken_contract},
    source,
};

/// Hex digits of the hash in a tool's metadata.
const HASH_DIGITS: usize = 12;

/// The body of create and upsert.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ToolCreate {
    source_code: String,
    source_type: Option<String>,
    description: Option<String>,
    tags: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    json_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    args_json_schema: Option<Value>,
    return_char_limit: Option<i64>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    pip_requirements: Option<Value>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    npm_requirements: Option<Value>,
    default_requires_approval: Option<bool>,
    enable_parallel_execution: Option<bool>,
}

impl Schema for ToolCreate {
    const NAME: &str = "ToolCreate";
}

/// The body of an update. A field that is null is as one that is left out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ToolUpdate {
    source_code: Option<String>,
    source_type: Option<String>,
    description: Option<String>,
    tags: Option<Vec<String>>,
    #[schema(value_type = Option<Object>)]
    json_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    args_json_schema: Option<Value>,
    return_char_limit: Option<i64>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    pip_requirements: Option<Value>,
    #[schema(value_type = Option<Vec<Requirement>>)]
    npm_requirements: Option<Value>,
    #[schema(value_type = Option<Object>)]
    metadata_: Option<Value>,
    default_requires_approval: Option<bool>,
    enable_parallel_execution: Option<bool>,
}

impl Schema for ToolUpdate {
    const NAME: &str = "ToolUpdate";
}

/// Creates a tool, or replaces the one of its name.
#[utoipa::path(
    put,
    path = "/v1/tools/",
    operation_id = "upsert_tool",
    tag = "tools",
    request_body = ToolCreate,
    responses(
        (status = OK, body = ToolView, description = "the tool"),
        Refusals,
    )
)]
pub(crate) async fn upsert(
    State(app): State<AppState>,
    Body(body): Body<ToolCreate>,
) -> Result<Json<ToolView>, Refusal> {
    let new = prepare(&app, body).await?;
    let saved = unbroken_contract(async move { store(&app, new).await }).await?;
    Ok(Json(saved.record.into()))
}

/// Stores a tool in place of the one of its name, which must be one from source.
pub(crate) async fn store(app: &App, new: NewTool) -> Result<Upserted<ToolRecord>, Refusal> {
    if let Some(former) = app.store.tool_by_name(&new.name).await? {
        expect_replaceable(&former)?;
    }
    let saved = app.store.upsert_tool(new).await?;
    if saved.is_new {
        // Source that may call any tool has one more in scope.
        app.registry.forget_plans();
    }
    Ok(saved)
}

/// Refuses to put source in the place of a tool that comes with the server or with a component.
pub(crate) fn expect_replaceable(former: &ToolRecord) -> Result<(), Refusal> {
    match former.tool_type == ToolType::Custom && former.component.is_none() {
        true => Ok(()),
        false => Err(taken(former)),
    }
}

/// As [`upsert`]: the contract has both.
#[utoipa::path(
    post,
    path = "/v1/tools/",
    operation_id = "create_tool",
    tag = "tools",
    request_body = ToolCreate,
    responses(
        (status = OK, body = ToolView, description = "the tool"),
        Refusals,
    )
)]
pub(crate) async fn create(
    state: State<AppState>,
    body: Body<ToolCreate>,
) -> Result<Json<ToolView>, Refusal> {
    upsert(state, body).await
}

/// A name that something else has which is not saved from source.
fn taken(former: &ToolRecord) -> Refusal {
    let what = match (&former.component, &former.mcp) {
        (Some(component), _) => format!("the component {}", component.component),
        (None, Some(_)) => "an MCP server".to_owned(),
        (None, None) => "the server".to_owned(),
    };
    Refusal::bad_request(format!(
        "INVALID_ARGUMENT: the name '{}' belongs to a tool of {what}; choose another one",
        former.name
    ))
}

/// Everything that can be known of a tool when it is saved.
pub(crate) async fn prepare(app: &App, body: ToolCreate) -> Result<NewTool, Refusal> {
    let language = language(body.source_type.as_deref())?;
    check_size(&body.source_code)?;
    check_npm(body.npm_requirements.as_ref())?;
    let (function, json_schema) = match body.json_schema {
        Some(schema) => {
            check_name(&schema)?;
            let function = app
                .check_source(language, &body.source_code, &schema)
                .await?;
            (function, schema)
        }
        None if language == Language::TypeScript => {
            return Err(Refusal::unprocessable(
                "TypeScript tools require an explicit json_schema parameter. Unlike Python tools, schema cannot be auto-generated from TypeScript source code.",
            ));
        }
        None => {
            let args = body.args_json_schema.as_ref();
            let derived = app.derive(language, &body.source_code, args, None).await?;
            (derived.function, derived.json_schema)
        }
    };
    let name = json_schema["name"].as_str().unwrap_or_default().to_owned();
    let packages = app.fetch_packages(body.pip_requirements.as_ref()).await?;
    let derived = json_schema["description"].as_str().map(str::to_owned);
    let mut new = NewTool::new(name, ToolType::Custom);
    new.metadata = Some(metadata(&body.source_code, &json_schema, &function));
    new.source_type = Some(source_type(language).to_owned());
    new.description = body.description.or(derived);
    new.source_code = Some(body.source_code);
    new.json_schema = Some(json_schema);
    new.args_json_schema = body.args_json_schema;
    new.tags = body.tags.unwrap_or_default();
    new.return_char_limit = body.return_char_limit.unwrap_or(new.return_char_limit);
    new.pip_requirements = body.pip_requirements;
    new.npm_requirements = body.npm_requirements;
    new.default_requires_approval = body.default_requires_approval;
    new.enable_parallel_execution = Some(body.enable_parallel_execution.unwrap_or(false));
    new.packages = packages;
    new.user_id = Some(id::DEFAULT_USER.to_owned());
    Ok(new)
}

/// Changes the fields that are given.
#[utoipa::path(
    patch,
    path = "/v1/tools/{tool_id}",
    operation_id = "update_tool",
    tag = "tools",
    params(("tool_id" = String, Path, description = "the tool's id")),
    request_body = ToolUpdate,
    responses(
        (status = OK, body = ToolView, description = "the tool"),
        Refusals,
    )
)]
pub(crate) async fn update(
    State(app): State<AppState>,
    Path(tool_id): Path<String>,
    Body(body): Body<ToolUpdate>,
) -> Result<Json<ToolView>, Refusal> {
    let tool = list::find(&app, &tool_id).await?;
    let change = Change::prepare(&app, &tool, body).await?;
    let name = change
        .json_schema
        .as_ref()
        .and_then(|schema| schema["name"].as_str())
        .map(str::to_owned);
    let saved = unbroken_contract(async move {
        let changed = app.store.update_tool(&tool_id, |tool| {
            change.apply(tool);
            Ok::<_, StoreError>(())
        });
        let changed = changed.await.map_err(|error| match error {
            StoreError::NotFound { .. } => list::not_found(&tool_id),
            StoreError::NameTaken { name, .. } => {
                Refusal::conflict(format!("Tool with name {name} already exists"))
            }
            error => error.into(),
        })?;
        // What was granted to the former name is not granted to whoever takes it next.
        if name.is_some_and(|name| name != tool.name) {
            app.registry.forget_source(&tool.name).await?;
        }
        Ok(changed)
    })
    .await?;
    Ok(Json(saved.into()))
}

/// A checked update.
struct Change {
    body: ToolUpdate,
    json_schema: Option<Value>,
    metadata: Option<Value>,
    packages: Option<Option<Digest>>,
}

impl Change {
    async fn prepare(app: &App, tool: &ToolRecord, body: ToolUpdate) -> Result<Self, Refusal> {
        let from_source = tool.tool_type == ToolType::Custom && tool.component.is_none();
        let touches_code = body.source_code.is_some()
            || body.json_schema.is_some()
            || body.args_json_schema.is_some()
            || body.source_type.is_some()
            || body.pip_requirements.is_some();
        if touches_code && !from_source {
            let reason = if tool.component.is_some() {
                "does not come from source; push a new version of its component instead"
            } else if tool.mcp.is_some() {
                "runs on an MCP server, which alone knows its schema; refresh that server instead"
            } else {
                "comes with the server, which alone knows its source and schema; save one of another name instead"
            };
            return Err(Refusal::bad_request(format!(
                "INVALID_ARGUMENT: the tool '{}' {reason}",
                tool.name
            )));
        }
        if body.json_schema.is_some() && body.args_json_schema.is_some() {
            return Err(Refusal::bad_request(
                "INVALID_ARGUMENT: give json_schema or args_json_schema, not both",
            ));
        }
        let source_type = body.source_type.as_deref().or(tool.source_type.as_deref());
        let language = language(source_type)?;
        check_npm(body.npm_requirements.as_ref())?;
        let text = body
            .source_code
            .as_deref()
            .or(tool.source_code.as_deref())
            .unwrap_or_default();
        check_size(text)?;
        let mut json_schema = body.json_schema.clone();
        if let Some(schema) = &json_schema {
            check_name(schema)?;
        }
        if let Some(args) = &body.args_json_schema {
            json_schema = Some(
                app.derive(language, text, Some(args), None)
                    .await?
                    .json_schema,
            );
        }
        let mut metadata_value = None;
        if from_source && touches_code {
            let schema = json_schema.as_ref().or(tool.json_schema.as_ref());
            let schema = schema
                .cloned()
                .unwrap_or_else(|| json!({ "name": tool.name }));
            // Source may come first and the schema that goes with it in the next request.
            let named = json!({ "name": schema["name"] });
            let checked = json_schema.as_ref().unwrap_or(&named);
            let function = app.check_source(language, text, checked).await?;
            if body.source_code.is_some() && json_schema.is_none() && function != tool.name {
                return Err(Refusal::bad_request(format!(
                    "Tool name '{function}' does not match the name in the JSON schema '{}' or in the source code `{text}`",
                    schema["name"].as_str().unwrap_or_default()
                )));
            }
            metadata_value = Some(metadata(text, &schema, &function));
        }
        let packages = match &body.pip_requirements {
            Some(requirements) => Some(app.fetch_packages(Some(requirements)).await?),
            None => None,
        };
        Ok(Self {
            json_schema,
            metadata: body.metadata_.clone().or(metadata_value),
            packages,
            body,
        })
    }

    fn apply(self, tool: &mut ToolRecord) {
        let body = self.body;
        if let Some(schema) = self.json_schema {
            if let Some(name) = schema["name"].as_str() {
                name.clone_into(&mut tool.name);
            }
            tool.json_schema = Some(schema);
        }
        if let Some(source_type) = body.source_type {
            tool.source_type = Some(source_type);
        }
        if let Some(tags) = body.tags {
            tool.tags = tags;
        }
        if let Some(limit) = body.return_char_limit {
            tool.return_char_limit = limit;
        }
        if let Some(packages) = self.packages {
            tool.packages = packages;
        }
        tool.source_code = body.source_code.or(tool.source_code.take());
        tool.description = body.description.or(tool.description.take());
        tool.args_json_schema = body.args_json_schema.or(tool.args_json_schema.take());
        tool.pip_requirements = body.pip_requirements.or(tool.pip_requirements.take());
        tool.npm_requirements = body.npm_requirements.or(tool.npm_requirements.take());
        tool.metadata = self.metadata.or(tool.metadata.take());
        tool.default_requires_approval = body
            .default_requires_approval
            .or(tool.default_requires_approval);
        tool.enable_parallel_execution = body
            .enable_parallel_execution
            .or(tool.enable_parallel_execution);
        tool.last_updated_by_id = Some(id::DEFAULT_USER.to_owned());
    }
}

/// Deletes a tool, and what was granted to its name.
#[utoipa::path(
    delete,
    path = "/v1/tools/{tool_id}",
    operation_id = "delete_tool",
    tag = "tools",
    params(("tool_id" = String, Path, description = "the tool's id")),
    responses(
        (status = OK, body = Option<Object>, description = "null"),
        Refusals,
    )
)]
pub(crate) async fn delete(
    State(app): State<AppState>,
    Path(tool_id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    id::check("tool", "tool_id", &tool_id)?;
    let missing = || Refusal::bad_request(format!("Tool with id {tool_id} not found."));
    let tool = app.store.tool(&tool_id).await?.ok_or_else(missing)?;
    if let Some(component) = &tool.component {
        return Err(Refusal::bad_request(format!(
            "INVALID_ARGUMENT: the tool '{}' comes with the component {name}; delete that with DELETE /v1/components/{name}",
            tool.name,
            name = component.component
        )));
    }
    if tool.tool_type != ToolType::Custom && tool.mcp.is_none() {
        return Err(Refusal::bad_request(format!(
            "INVALID_ARGUMENT: the tool '{}' comes with the server and can't be deleted",
            tool.name
        )));
    }
    let deleted = unbroken_contract(async move {
        let deleted = app.store.delete_tool(&tool.id).await?;
        app.registry.forget_source(&tool.name).await?;
        Ok(deleted)
    });
    if deleted.await? {
        Ok(Json(Value::Null))
    } else {
        Err(missing())
    }
}

/// The language of a body.
pub(super) fn language(source_type: Option<&str>) -> Result<Language, Refusal> {
    source::language(source_type).ok_or_else(|| {
        Refusal::bad_request(format!(
            "INVALID_ARGUMENT: Unsupported source type: {}; there are python, typescript and javascript",
            source_type.unwrap_or_default()
        ))
    })
}

fn source_type(language: Language) -> &'static str {
    match language {
        Language::Python => "python",
        Language::TypeScript => "typescript",
        Language::JavaScript => "javascript",
    }
}

pub(super) fn check_size(text: &str) -> Result<(), Refusal> {
    if text.len() <= MAX_SOURCE_BYTES {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: source_code has {} bytes, more than the {MAX_SOURCE_BYTES} that are allowed",
        text.len()
    )))
}

/// Packages of npm are programs for Node, which is not there.
pub(super) fn check_npm(requirements: Option<&Value>) -> Result<(), Refusal> {
    let first = requirements.and_then(|list| list.get(0));
    match first.and_then(|first| first["name"].as_str()) {
        None => Ok(()),
        Some(name) => Err(Refusal::bad_request(format!(
            "npm_requirements: {name} can't be imported: the JavaScript runtime of the sandbox has no packages; put what you need into the source"
        ))),
    }
}

/// The names that providers of models take.
fn check_name(schema: &Value) -> Result<(), Refusal> {
    const NAME_MAX: usize = 64;
    let name = schema["name"].as_str().unwrap_or_default();
    let of_names = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if (1..=NAME_MAX).contains(&name.len()) && name.chars().all(of_names) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "INVALID_ARGUMENT: json_schema needs a name of 1 to {NAME_MAX} letters, digits, _ and -, which becomes the tool's name"
    )))
}

fn metadata(text: &str, json_schema: &Value, function: &str) -> Value {
    let hash = Digest::of(format!("{text}\n{json_schema}").as_bytes()).hex();
    let mut metadata = json!({ "tool_hash": &hash[..HASH_DIGITS] });
    // Kept where the source has no function of the tool's name.
    if json_schema["name"].as_str() != Some(function) {
        metadata["function"] = json!(function);
    }
    metadata
}
