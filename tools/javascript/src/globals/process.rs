//! `process`: the environment of the call, and its end.

use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsString, JsValue, error::PanicError, js_string,
};

use super::{functions, lazy::data, native};
use crate::{
    engine::{inspect::shown, object, services},
    host::Stream,
    source::statement::no_module,
};

pub(super) fn new(context: &mut Context) -> JsResult<JsValue> {
    let process = functions(&[("exit", exit, 1), ("cwd", cwd, 0)], context);
    let environment = object(context);
    for (name, value) in &services(context).environment.variables {
        let value = JsString::from(value.as_str());
        environment.create_data_property(JsString::from(name.as_str()), value, context)?;
    }
    let stdout = functions(&[("write", write_out, 1)], context);
    let stderr = functions(&[("write", write_error, 1)], context);
    let arguments = boa_engine::object::builtins::JsArray::new(context)?;
    for (name, value) in [
        ("env", JsValue::from(environment)),
        ("argv", arguments.into()),
        ("stdout", stdout.into()),
        ("stderr", stderr.into()),
        ("platform", js_string!("wasi").into()),
        (
            "nextTick",
            native("nextTick", super::timers::queue_microtask, 1, context),
        ),
    ] {
        process.insert_property(JsString::from(name), data(value));
    }
    Ok(process.into())
}

/// Ends the program at once; nothing in it can catch that.
fn exit(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let status = match args.get_or_undefined(0) {
        status if status.is_undefined() => 0,
        status => status.to_i32(context)?,
    };
    services(context).exit.set(Some(status));
    Err(PanicError::new("the program ended itself").into())
}

fn cwd(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(js_string!("/").into())
}

fn write_out(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    write(Stream::Out, args, context)
}

fn write_error(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    write(Stream::Error, args, context)
}

/// Prints text; its last line break is the one that the host's lines end with.
fn write(stream: Stream, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = shown(args.get_or_undefined(0), context);
    let line = text.strip_suffix('\n').unwrap_or(&text);
    services(context).host.print(stream, line);
    Ok(true.into())
}

/// `require`, which finds nothing.
pub(super) fn require(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = shown(args.get_or_undefined(0), context);
    Err(JsNativeError::error().with_message(no_module(&name)).into())
}
