//! The built-in tool `run_code`: a script in a fresh runtime, with other tools as functions.

use bulkhead_domain::Outcome;
use bulkhead_sandbox::{Language, Report, SourceReport};
use bulkhead_store::{NewTool, Store, StoreError, ToolType};
use serde_json::{Value, json};

use super::returned::Returned;

/// Its name.
pub(crate) const NAME: &str = "run_code";

/// Puts it into the list of tools unless it is there.
pub(crate) async fn list(store: &Store) -> Result<(), StoreError> {
    // Also where a person saved a tool of this name before there was a built-in one.
    if store.tool_by_name(NAME).await?.is_some() {
        return Ok(());
    }
    let description = "Run code in a sandbox. Supports Python, JavaScript and TypeScript. Nothing of one run is there in the next. Tools that are granted to it are functions in scope.";
    let mut tool = NewTool::new(NAME, ToolType::LettaBuiltin);
    tool.description = Some(description.to_owned());
    tool.source_type = Some("python".to_owned());
    tool.source_code = Some(String::new());
    tool.tags = vec![ToolType::LettaBuiltin.as_str().to_owned()];
    tool.enable_parallel_execution = Some(true);
    tool.json_schema = Some(json!({
        "name": NAME,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {
                "code": { "type": "string", "description": "The code to run." },
                "language": {
                    "type": "string",
                    "enum": ["python", "js", "ts", "r", "java"],
                    "description": "The language of the code: python, js or ts.",
                },
            },
            "required": ["code", "language"],
        },
    }));
    store.upsert_tool(tool).await.map(|_| ())
}

/// The code and its language, or what a model has to change.
pub(crate) fn input(input: &Value) -> Result<(Language, String), String> {
    let code = input["code"].as_str().ok_or("code: a text is needed")?;
    let language = match input["language"].as_str() {
        Some("python") => Language::Python,
        Some("js" | "javascript") => Language::JavaScript,
        Some("ts" | "typescript") => Language::TypeScript,
        Some(other) => {
            return Err(format!(
                "language: {other} can't be run here; there are python, js and ts"
            ));
        }
        None => return Err("language: one of python, js and ts is needed".to_owned()),
    };
    Ok((language, code.to_owned()))
}

/// The contract's form of a run: results, what was printed, and the error if there was one.
pub(crate) fn returned(report: &SourceReport) -> Returned {
    let mut returned = Returned::of_source(report, Some(NAME));
    let mut value = json!({
        "results": results(&report.report),
        "logs": { "stdout": returned.stdout, "stderr": returned.stderr },
    });
    if let Some(exception) = &report.exception {
        value["error"] = json!({
            "name": exception.kind, "value": exception.message, "traceback": exception.traceback,
        });
    } else if let Err(failure) = &report.report.result {
        value["error"] = json!({
            "name": failure.outcome.as_str(), "value": failure.message, "traceback": "",
        });
    }
    // An exception of the code is a result that a model reads; what the host stopped is an error.
    let ran = match &report.report.result {
        Ok(_) => true,
        Err(failure) => report.exception.is_some() && failure.outcome == Outcome::ToolError,
    };
    returned.success = ran;
    returned.text = value.to_string();
    returned.value = value;
    returned
}

fn results(report: &Report) -> Vec<String> {
    let output = report.result.as_ref().ok();
    let text = output
        .map(bulkhead_domain::Output::text)
        .filter(|text| !text.is_empty());
    text.into_iter().collect()
}
