//! What was thrown, as the interface says it.

use boa_engine::{
    Context, JsError, JsObject, JsString, JsValue,
    builtins::error::Error,
    error::{EngineError, RuntimeLimitError},
    js_string,
};

use super::{inspect::inspect, services, traceback};
use crate::abi::Exception;

/// How a program ended that did not return.
pub(crate) enum Thrown {
    Raised(Exception),
    Exited(i32),
}

/// Reads what was thrown.
pub(crate) fn thrown(error: JsError, context: &mut Context) -> Thrown {
    if let Some(status) = services(context).exit.get() {
        return Thrown::Exited(status);
    }
    Thrown::Raised(match error.as_engine() {
        Some(engine) => engine_exception(engine, &error, context),
        None => exception(error, context),
    })
}

/// What the engine stops a program for. The program can't catch it.
fn engine_exception(engine: &EngineError, error: &JsError, context: &Context) -> Exception {
    let (kind, message) = match is_too_deep(engine) {
        true => ("RangeError", "Maximum call stack size exceeded".to_owned()),
        false => ("InternalError", engine.to_string()),
    };
    let whole = error.to_string();
    let frames = traceback::own_frames(&whole, &services(context));
    Exception {
        traceback: format!("{kind}: {message}{frames}"),
        kind: kind.to_owned(),
        message,
    }
}

/// Whether calls within calls are behind an error; the engine may have tripped over them where it
/// did not expect an error at all.
fn is_too_deep(engine: &EngineError) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(engine);
    while let Some(error) = next {
        let limit = error.downcast_ref::<RuntimeLimitError>();
        if let Some(RuntimeLimitError::Recursion | RuntimeLimitError::StackSize) = limit {
            return true;
        }
        next = error.source();
    }
    false
}

fn exception(error: JsError, context: &mut Context) -> Exception {
    let value = match error.clone().into_opaque(context) {
        Ok(value) => value,
        Err(error) => JsString::from(error.to_string()).into(),
    };
    match value.as_object() {
        Some(object) if object.is::<Error>() => {
            let kind = kind(&object, context);
            let message = text(&object, "message", context).unwrap_or_default();
            let frames = traceback::of_object(&object, context);
            Exception {
                traceback: format!("{}{frames}", headline_of(&kind, &message)),
                kind,
                message,
            }
        }
        _ => {
            let message = match value.as_string() {
                Some(text) => text.to_std_string_lossy(),
                None => match value.as_object() {
                    Some(object) => text(&object, "message", context)
                        .unwrap_or_else(|| inspect(&value, context)),
                    None => inspect(&value, context),
                },
            };
            let frames = traceback::of_thrown(&error, &value, context);
            Exception {
                kind: "Error".to_owned(),
                traceback: format!("Uncaught {message}{frames}"),
                message,
            }
        }
    }
}

/// `TypeError: message`
pub(crate) fn headline(error: &JsObject, context: &mut Context) -> String {
    let kind = kind(error, context);
    let message = text(error, "message", context).unwrap_or_default();
    headline_of(&kind, &message)
}

fn headline_of(kind: &str, message: &str) -> String {
    match message {
        "" => kind.to_owned(),
        message => format!("{kind}: {message}"),
    }
}

/// The error's name, or that of its class where the class gave it none.
fn kind(error: &JsObject, context: &mut Context) -> String {
    match text(error, "name", context) {
        Some(name) if name != "Error" && !name.is_empty() => name,
        _ => error
            .get(js_string!("constructor"), context)
            .ok()
            .and_then(|class| class.as_object())
            .and_then(|class| text(&class, "name", context))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "Error".to_owned()),
    }
}

/// A property that is a string; reading it may fail, and then there is none.
fn text(object: &JsObject, key: &str, context: &mut Context) -> Option<String> {
    let value: JsValue = object.get(JsString::from(key), context).ok()?;
    Some(value.as_string()?.to_std_string_lossy())
}
