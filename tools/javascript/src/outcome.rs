//! How a run ended, as the interface says it.

use boa_engine::{JsError, JsResult, JsValue};

use crate::{
    abi::{Content, Ended, Exception, Execution, Fault, Output, Problem, Source},
    engine::{
        Engine,
        error::{Thrown, thrown},
        json::to_json,
    },
    undefined_name::locate,
};

/// The end of a run that gave `value`; one that is `undefined` has no content if `silent`.
pub(crate) fn returned(
    value: &JsValue,
    silent: bool,
    source: &Source,
    engine: &mut Engine,
) -> Execution {
    match output(value, silent, engine) {
        Ok(output) => ended(Ended::Returned(output)),
        Err(error) => failed(error, source, engine),
    }
}

fn output(value: &JsValue, silent: bool, engine: &mut Engine) -> JsResult<Output> {
    let json = to_json(value, &mut engine.context)?.unwrap_or_else(|| "null".to_owned());
    let content = match value.as_string() {
        _ if silent && value.is_undefined() => Vec::new(),
        Some(text) => vec![Content::Text(text.to_std_string_lossy())],
        None => vec![Content::Text(json.clone())],
    };
    Ok(Output {
        content,
        structured: Some(json),
    })
}

/// The end of a run in which something was thrown.
pub(crate) fn failed(error: JsError, source: &Source, engine: &mut Engine) -> Execution {
    ended(match thrown(error, &mut engine.context) {
        Thrown::Raised(mut exception) => {
            locate(&mut exception, engine.file, source);
            Ended::Raised(exception)
        }
        Thrown::Exited(status) => Ended::Exited(status),
    })
}

/// The end of a run of source that can't run.
pub(crate) fn faulty(fault: Fault) -> Execution {
    let kind = match fault.message.starts_with("Syntax error") {
        true => "SyntaxError",
        false => "Error",
    };
    let place = fault.line.map(|line| format!("\n    at line {line}"));
    ended(Ended::Raised(Exception {
        kind: kind.to_owned(),
        traceback: format!("{kind}: {}{}", fault.message, place.unwrap_or_default()),
        message: fault.message,
    }))
}

/// The end of a call whose arguments don't fit.
pub(crate) fn unfit(problems: Vec<Problem>) -> Execution {
    ended(Ended::InvalidInput(problems))
}

/// A run that ended so. JavaScript sees no memory blocks, and so changes none.
fn ended(ended: Ended) -> Execution {
    Execution {
        ended,
        memory: None,
    }
}
