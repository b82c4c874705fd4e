//! The guest's part of a call: instantiate, enter, and take what it returns.

use std::sync::Arc;

use bulkhead_domain::{Content, Outcome, Output, ToolError};
use serde_json::Value;
use wasmtime::{Store, component::Val};

use crate::{
    Failure,
    component::{Entry, Installed, InstalledTool},
    interfaces::{output_from_guest, tool_error_from_guest},
    schema::InputCheck,
    state::CallState,
};

/// Problems that a tool's own failure lists.
const MAX_PROBLEMS: usize = 32;
/// What a part of an output costs beside its text, so that empty ones end too.
const PART_OVERHEAD: usize = 64;

/// What a guest returned, before it is checked.
pub(super) enum Returned {
    /// Content, and the structured part as text.
    Native(Result<(Vec<Content>, Option<String>), ToolError>),
    /// A finished output.
    Plain(Result<Output, ToolError>),
}

/// Instantiates the component and calls the tool. `after_instantiate` gets the fuel that was
/// left between the two.
pub(super) async fn enter(
    installed: &Installed,
    tool: &InstalledTool,
    text: &Arc<str>,
    arguments: Option<Vec<Val>>,
    store: &mut Store<CallState>,
    after_instantiate: &mut Option<u64>,
) -> wasmtime::Result<Returned> {
    match (&installed.entry, &tool.plain, arguments) {
        (Entry::Native(entry), _, _) => {
            let instance = entry.instantiate_async(&mut *store).await?;
            *after_instantiate = Some(store.get_fuel()?);
            let tools = instance.bulkhead_tool_tools();
            let returned = tools.call_call(store, &tool.info.name, text).await?;
            Ok(Returned::Native(match returned {
                Ok(output) => Ok(output_from_guest(output)),
                Err(error) => Err(tool_error_from_guest(error)),
            }))
        }
        (Entry::Plain, Some(plain), Some(arguments)) => {
            let instance = installed.pre.instantiate_async(&mut *store).await?;
            *after_instantiate = Some(store.get_fuel()?);
            let function = instance
                .get_func(&mut *store, plain.index())
                .ok_or_else(|| {
                    wasmtime::format_err!("the component lost its export {}", plain.path())
                })?;
            let mut results = vec![Val::Bool(false); plain.result_count()];
            function.call_async(store, &arguments, &mut results).await?;
            Ok(Returned::Plain(plain.output(&results)))
        }
        (Entry::Plain, _, _) => wasmtime::bail!("a tool of a plain component has no function"),
    }
}

/// Checks what was returned, cuts it to the call's limit and takes the call's secrets out.
pub(super) fn output(
    returned: Returned,
    tool: &InstalledTool,
    state: &CallState,
) -> Result<Output, Failure> {
    checked(returned, tool.output.as_ref(), state)
}

/// As [`output`], against `schema` where one was promised.
pub(super) fn checked(
    returned: Returned,
    schema: Option<&InputCheck>,
    state: &CallState,
) -> Result<Output, Failure> {
    let (content, structured) = match returned {
        Returned::Native(Ok((content, None))) => (content, None),
        Returned::Native(Ok((content, Some(text)))) => {
            let value = serde_json::from_str(&text).map_err(|error| {
                invalid(format!("its structured output is not valid JSON: {error}"))
            })?;
            (content, Some(value))
        }
        Returned::Plain(Ok(output)) => (output.content, output.structured),
        Returned::Native(Err(error)) | Returned::Plain(Err(error)) => {
            return Err(tool_failure(error, state));
        }
    };
    if let Some(schema) = schema {
        let value = structured
            .as_ref()
            .ok_or_else(|| invalid("it promises structured output and gave none".to_owned()))?;
        schema.check(value).map_err(|problems| {
            let text = problems.iter().map(|p| format!("{}: {}", p.at, p.message));
            invalid(format!(
                "its structured output breaks its own schema: {}",
                text.collect::<Vec<_>>().join("; ")
            ))
        })?;
    }
    bounded(content, structured, state)
}

fn invalid(message: String) -> Failure {
    Failure::new(
        Outcome::InvalidOutput,
        format!("the tool is broken: {message}"),
    )
}

fn tool_failure(error: ToolError, state: &CallState) -> Failure {
    let limit = usize::try_from(state.context.limits.output_bytes).unwrap_or(usize::MAX);
    let scrubber = &state.context.authority.scrubber;
    let clean = |text: String| {
        let mut text = scrubber.redact_str(&text).into_owned();
        if text.len() > limit {
            text.truncate(text.floor_char_boundary(limit));
            text.push_str(" [… cut by the host]");
        }
        text
    };
    let error = match error {
        ToolError::InvalidInput(mut problems) => {
            problems.truncate(MAX_PROBLEMS);
            for problem in &mut problems {
                problem.at = clean(std::mem::take(&mut problem.at));
                problem.message = clean(std::mem::take(&mut problem.message));
            }
            ToolError::InvalidInput(problems)
        }
        ToolError::Unauthorized(text) => ToolError::Unauthorized(clean(text)),
        ToolError::Denied(text) => ToolError::Denied(clean(text)),
        ToolError::NotFound(text) => ToolError::NotFound(clean(text)),
        ToolError::Conflict(text) => ToolError::Conflict(clean(text)),
        ToolError::Upstream(mut upstream) => {
            upstream.message = clean(upstream.message);
            ToolError::Upstream(upstream)
        }
        ToolError::Failed(text) => ToolError::Failed(clean(text)),
    };
    let problems = match &error {
        ToolError::InvalidInput(problems) => problems.clone(),
        _ => Vec::new(),
    };
    let message = clean(error.to_string());
    Failure {
        outcome: Outcome::ToolError,
        message,
        problems,
        tool_error: Some(error),
    }
}

/// Cuts the output to the call's limit, marking what is cut, and takes secrets out.
fn bounded(
    content: Vec<Content>,
    structured: Option<Value>,
    state: &CallState,
) -> Result<Output, Failure> {
    let authority = &state.context.authority;
    let limit = usize::try_from(state.context.limits.output_bytes).unwrap_or(usize::MAX);
    let mut left = limit;
    let structured = match structured {
        None => None,
        Some(value) => {
            let text = value.to_string();
            if text.len() > limit {
                let message = format!(
                    "the structured output has {} bytes, more than the {limit} allowed; half an \
                     object is of no use, so none of it is given",
                    text.len()
                );
                return Err(Failure::new(Outcome::LimitExceeded, message));
            }
            match authority.scrubber.redact_str(&text) {
                std::borrow::Cow::Borrowed(_) => Some(value),
                // A mark in the place of a secret keeps JSON valid: it stands inside a string.
                // Where it did not, half of the output would be gone without a word.
                std::borrow::Cow::Owned(clean) => {
                    Some(serde_json::from_str(&clean).map_err(|_| {
                        invalid("its structured output holds a credential".to_owned())
                    })?)
                }
            }
        }
    };
    let mut output = Output {
        content: Vec::with_capacity(content.len()),
        structured,
        truncated: false,
    };
    for part in content {
        let part = authority.scrub_content(part);
        let bytes = match &part {
            Content::Text { text } => text.len(),
            Content::Blob { media_type, data } => media_type.len() + data.len(),
            Content::Link { uri, title } => uri.len() + title.as_ref().map_or(0, String::len),
        };
        let bytes = bytes + PART_OVERHEAD;
        if bytes <= left {
            left -= bytes;
            output.content.push(part);
            continue;
        }
        output.truncated = true;
        let text = match part {
            Content::Text { text } => {
                let end = text.floor_char_boundary(left);
                format!(
                    "{}\n[… cut by the host after {limit} bytes of output]",
                    &text[..end]
                )
            }
            _ => format!("[… cut by the host after {limit} bytes of output]"),
        };
        output.content.push(Content::Text { text });
        break;
    }
    Ok(output)
}
