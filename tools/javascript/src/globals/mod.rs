//! What is in scope beside the language. Most of it is made when a program first touches it, so
//! that a call pays only for what it uses.
//!
//! - [`lazy`]: how that works. [`prelude`]: what is written in JavaScript, in `src/prelude`.
//! - [`console`], [`timers`], [`process`], [`encoding`], [`random`], [`http`], [`address`],
//!   [`peers`]: what needs the host, or would be slow in JavaScript.

mod address;
mod console;
mod encoding;
mod http;
mod lazy;
mod peers;
mod prelude;
mod process;
mod random;
mod timers;

use boa_engine::{
    Context, JsResult, JsString, JsValue, NativeFunction, js_string,
    object::{FunctionObjectBuilder, IntegrityLevel, JsObject},
};

use crate::engine::{parse_json, services};
use lazy::lazy;

/// A function of Rust.
type Native = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// Puts everything into scope.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    lazy("console", |_, context| console::new(context), context);
    lazy("process", |_, context| process::new(context), context);
    lazy("crypto", |_, context| random::new(context), context);
    lazy(
        "performance",
        |_, context| timers::performance(context),
        context,
    );
    lazy("agent", |_, context| agent(context), context);
    lazy("module", |_, context| module(context), context);
    lazy("exports", |_, context| exports(context), context);
    let global = context.global_object();
    for (name, function, length) in FUNCTIONS {
        let value = native(name, *function, *length, context);
        global.insert_property(JsString::from(*name), lazy::data(value));
    }
    for (_, names) in prelude::GROUPS {
        for name in *names {
            lazy(name, prelude::get, context);
        }
    }
    peers::install(context);
    for name in ["global", "self"] {
        global.insert_property(JsString::from(name), lazy::data(global.clone().into()));
    }
    Ok(())
}

const FUNCTIONS: &[(&str, Native, usize)] = &[
    ("setTimeout", timers::set_timeout, 1),
    ("setInterval", timers::set_interval, 1),
    ("clearTimeout", timers::clear, 1),
    ("clearInterval", timers::clear, 1),
    ("setImmediate", timers::set_immediate, 1),
    ("queueMicrotask", timers::queue_microtask, 1),
    ("atob", encoding::atob, 1),
    ("btoa", encoding::btoa, 1),
    ("require", process::require, 1),
];

/// A function object.
fn native(name: &str, function: Native, length: usize, context: &Context) -> JsValue {
    FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(function))
        .name(JsString::from(name))
        .length(length)
        .build()
        .into()
}

/// A plain object of functions.
fn functions(list: &[(&str, Native, usize)], context: &Context) -> JsObject {
    let object = crate::engine::object(context);
    for (name, function, length) in list {
        let value = native(name, *function, *length, context);
        object.insert_property(JsString::from(*name), lazy::data(value));
    }
    object
}

/// The agent that the call is for, frozen; null without one.
fn agent(context: &mut Context) -> JsResult<JsValue> {
    let json = services(context).environment.agent.clone();
    let agent = match json {
        Some(json) => parse_json(&json, context)?,
        None => JsValue::null(),
    };
    freeze(&agent, context)?;
    Ok(agent)
}

fn freeze(value: &JsValue, context: &mut Context) -> JsResult<()> {
    if let Some(object) = value.as_object() {
        for key in crate::engine::object_keys(&object, context)? {
            let member = object.get(key, context)?;
            freeze(&member, context)?;
        }
        object.set_integrity_level(IntegrityLevel::Frozen, context)?;
    }
    Ok(())
}

/// What source that is written for CommonJS assigns to; which function it exports is read from
/// its text.
fn module(context: &mut Context) -> JsResult<JsValue> {
    let module = crate::engine::object(context);
    let exports = crate::engine::object(context);
    module.create_data_property(js_string!("exports"), exports, context)?;
    Ok(module.into())
}

fn exports(context: &mut Context) -> JsResult<JsValue> {
    let module = context.global_object().get(js_string!("module"), context)?;
    match module.as_object() {
        Some(module) => module.get(js_string!("exports"), context),
        None => Ok(JsValue::undefined()),
    }
}
