//! Timers, which really wait, and clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use boa_engine::{
    Context, JsArgs, JsNativeError, JsResult, JsValue, job::PromiseJob, js_string,
    object::builtins::JsFunction, property::PropertyKey,
};

use super::{functions, lazy::data};
use crate::engine::services;

/// The longest delay, as in browsers: 2³¹ − 1 ms. The call's deadline comes first.
const MAX_DELAY_MS: f64 = 2_147_483_647.0;

pub(super) fn set_timeout(
    _: &JsValue,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    set(args, false, context)
}

pub(super) fn set_interval(
    _: &JsValue,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    set(args, true, context)
}

pub(super) fn set_immediate(
    _: &JsValue,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let callback = callback(args, "setImmediate")?;
    let arguments = args.get(1..).unwrap_or_default().to_vec();
    let jobs = services(context).jobs.clone();
    Ok(jobs
        .set_timer(callback, arguments, Duration::ZERO, false)
        .into())
}

fn set(args: &[JsValue], repeats: bool, context: &mut Context) -> JsResult<JsValue> {
    let name = if repeats { "setInterval" } else { "setTimeout" };
    let callback = callback(args, name)?;
    let delay = args.get_or_undefined(1).to_number(context)?;
    // An interval without a pause would never let anything else run.
    let least = if repeats { 1.0 } else { 0.0 };
    let delay = if delay.is_nan() {
        least
    } else {
        delay.clamp(least, MAX_DELAY_MS)
    };
    let arguments = args.get(2..).unwrap_or_default().to_vec();
    let jobs = services(context).jobs.clone();
    let delay = Duration::from_secs_f64(delay / 1000.0);
    Ok(jobs.set_timer(callback, arguments, delay, repeats).into())
}

/// `after(callback, milliseconds)`: a timer for which the program does not wait.
pub(super) fn after(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callback = callback(args, "timeout")?;
    let delay = args.get_or_undefined(1).to_number(context)?;
    let delay = if delay.is_nan() {
        0.0
    } else {
        delay.clamp(0.0, MAX_DELAY_MS)
    };
    let jobs = services(context).jobs.clone();
    let delay = Duration::from_secs_f64(delay / 1000.0);
    Ok(jobs.set_background_timer(callback, delay).into())
}

fn callback(args: &[JsValue], name: &str) -> JsResult<JsFunction> {
    let function = args.get_or_undefined(0).as_object();
    function.and_then(JsFunction::from_object).ok_or_else(|| {
        let message = format!("{name}: the first argument must be a function");
        JsNativeError::typ().with_message(message).into()
    })
}

pub(super) fn clear(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = args.get_or_undefined(0).to_u32(context)?;
    services(context).jobs.clear_timer(id);
    Ok(JsValue::undefined())
}

pub(super) fn queue_microtask(
    _: &JsValue,
    args: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let callback = callback(args, "queueMicrotask")?;
    let job = PromiseJob::new(move |context| callback.call(&JsValue::undefined(), &[], context));
    context.enqueue_job(job.into());
    Ok(JsValue::undefined())
}

/// `performance`, which counts from when it is first used.
pub(super) fn performance(context: &mut Context) -> JsResult<JsValue> {
    context.insert_data(Started(Instant::now()));
    let object = functions(&[("now", now, 0)], context);
    let epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let origin = JsValue::from(epoch.as_secs_f64() * 1000.0);
    object.insert_property(PropertyKey::from(js_string!("timeOrigin")), data(origin));
    Ok(object.into())
}

struct Started(Instant);

fn now(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let started = context.get_data::<Started>();
    let elapsed = started.map_or(Duration::ZERO, |started| started.0.elapsed());
    Ok(JsValue::from(elapsed.as_secs_f64() * 1000.0))
}
