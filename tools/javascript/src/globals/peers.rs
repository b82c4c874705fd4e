//! Other tools as functions: `await search({ query })`.

use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, NativeFunction,
    object::{FunctionObjectBuilder, builtins::JsPromise},
};

use super::lazy::data;
use crate::{
    abi::{Content, Output, PeerError, Problem, ToolError},
    engine::{json::to_json, parse_json, services},
};

/// Puts each tool into scope under its name.
pub(super) fn install(context: &Context) {
    for name in &services(context).environment.peers {
        let name = JsString::from(name.as_str());
        let function = NativeFunction::from_copy_closure_with_captures(call_peer, name.clone());
        let function = FunctionObjectBuilder::new(context.realm(), function)
            .name(name.clone())
            .length(1)
            .build();
        context
            .global_object()
            .insert_property(name, data(function.into()));
    }
}

fn call_peer(
    _: &JsValue,
    args: &[JsValue],
    name: &JsString,
    context: &mut Context,
) -> JsResult<JsValue> {
    let answer = answer(
        args.get_or_undefined(0),
        &name.to_std_string_lossy(),
        context,
    );
    let promise = match answer {
        Ok(value) => JsPromise::resolve(value, context)?,
        Err(error) if error.as_engine().is_some() => return Err(error),
        Err(error) => JsPromise::reject(error, context)?,
    };
    Ok(promise.into())
}

fn answer(input: &JsValue, name: &str, context: &mut Context) -> JsResult<JsValue> {
    let input = match input {
        input if input.is_undefined() => "{}".to_owned(),
        input if input.as_object().is_some_and(|it| !it.is_array()) => {
            to_json(input, context)?.unwrap_or_default()
        }
        _ => {
            let message = format!("{name} takes one object with its arguments: {name}({{ … }})");
            return Err(JsNativeError::typ().with_message(message).into());
        }
    };
    let host = services(context).host.clone();
    match host.call_peer(name, &input) {
        Ok(output) => value(output, context),
        Err(error) => Err(JsNativeError::error()
            .with_message(format!("{name}: {}", message(error)))
            .into()),
    }
}

/// What a tool gave: its structured result, else its text.
fn value(output: Output, context: &mut Context) -> JsResult<JsValue> {
    if let Some(json) = &output.structured {
        return parse_json(json, context);
    }
    let texts = output.content.into_iter().map(|part| match part {
        Content::Text(text) => text,
        Content::Link(link) => link.uri,
        Content::Blob(blob) => format!("[{} bytes of {}]", blob.data.len(), blob.media_type),
    });
    Ok(JsString::from(texts.collect::<Vec<_>>().join("\n")).into())
}

fn message(error: PeerError) -> String {
    match error {
        PeerError::Denied(reason) | PeerError::Stopped(reason) | PeerError::Unavailable(reason) => {
            reason
        }
        PeerError::Unknown => "there is no such tool".to_owned(),
        PeerError::Depth => "tools call each other too deep, or in a circle".to_owned(),
        PeerError::Tool(error) => tool_message(error),
    }
}

fn tool_message(error: ToolError) -> String {
    match error {
        ToolError::InvalidInput(problems) => {
            let lines = problems
                .into_iter()
                .map(|Problem { at, message }| format!("{at} {message}").trim().to_owned());
            format!("invalid input: {}", lines.collect::<Vec<_>>().join("; "))
        }
        ToolError::Upstream(upstream) => upstream.message,
        ToolError::Unauthorized(reason)
        | ToolError::Denied(reason)
        | ToolError::NotFound(reason)
        | ToolError::Conflict(reason)
        | ToolError::Failed(reason) => reason,
    }
}
