//! Where an error came from: the frames of the source alone, as Node.js writes them.

use boa_engine::{
    Context, JsError, JsResult, JsString, JsValue, NativeFunction, js_string,
    object::{FunctionObjectBuilder, JsObject},
    property::{PropertyDescriptor, PropertyKey},
};

use super::{Services, error, services};
use crate::source::{program::Shift, text::Place};

/// Puts a getter of this runtime in the place of the engine's for `error.stack`, and gives the
/// engine's.
pub(super) fn take_over(context: &mut Context) -> JsResult<JsValue> {
    let prototype = context.intrinsics().constructors().error().prototype();
    let key = PropertyKey::from(js_string!("stack"));
    let Some(engines) = prototype.borrow().properties().get(&key) else {
        return Ok(JsValue::undefined());
    };
    let getter = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(stack))
        .name(js_string!("stack"))
        .build();
    let accessor = PropertyDescriptor::builder()
        .get(getter)
        .maybe_set(engines.set().cloned())
        .enumerable(false)
        .configurable(true)
        .build();
    prototype.define_property_or_throw(key, accessor, context)?;
    Ok(engines.get().cloned().unwrap_or_default())
}

/// `error.stack`
fn stack(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(object) = this.as_object() else {
        return Ok(JsValue::undefined());
    };
    let mut text = error::headline(&object, context);
    text.push_str(&of_object(&object, context));
    Ok(JsString::from(text).into())
}

/// The frames of an error object, each on a line of its own after a line break.
pub(crate) fn of_object(error: &JsObject, context: &mut Context) -> String {
    let getter = services(context).frames.clone();
    let frames = getter
        .as_callable()
        .and_then(|getter| getter.call(&error.clone().into(), &[], context).ok())
        .and_then(|frames| frames.as_string());
    frames.map_or_else(String::new, |frames| {
        own_frames(&frames.to_std_string_lossy(), &services(context))
    })
}

/// The frames of something thrown that is no error object.
pub(crate) fn of_thrown(thrown: &JsError, value: &JsValue, context: &Context) -> String {
    let whole = thrown.to_string();
    let shown = value.display().to_string();
    let frames = whole.strip_prefix(&shown).unwrap_or_default();
    own_frames(frames, &services(context))
}

/// Those lines that lead into the source.
pub(super) fn own_frames(frames: &str, services: &Services) -> String {
    filtered(frames, services.file, services.shift.get())
}

fn filtered(frames: &str, file: &str, shift: Option<Shift>) -> String {
    let place = format!("({file}:");
    let mut out = String::new();
    for frame in frames.lines() {
        let Some(at) = frame.rfind(&place) else {
            continue;
        };
        let function = frame[..at].trim().trim_start_matches("at ").trim();
        let position = position(frame[at..].trim_matches(['(', ')']), file, shift);
        match function {
            // The engine's name of what has none.
            "<main>" | "<eval>" | "<anonymous>" | "" | "at" => {
                out.push_str(&format!("\n    at {position}"));
            }
            name => out.push_str(&format!("\n    at {name} ({position})")),
        }
    }
    out
}

/// `tool.ts:3:9`, with the column that the source has.
fn position(written: &str, file: &str, shift: Option<Shift>) -> String {
    let numbers = written[file.len() + 1..].split_once(':');
    let numbers =
        numbers.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    match (numbers, shift) {
        (Some((line, column)), Some(shift)) => {
            let place = shift.original(Place { line, column });
            format!("{file}:{}:{}", place.line, place.column)
        }
        (Some(_), None) => written.to_owned(),
        // The engine does not know every place.
        (None, _) => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::filtered;

    #[test]
    fn frames_of_the_runtime_are_left_out() {
        let frames = "    at f (tool.ts:3:9)\n    at map (native)\n    at get (bulkhead:fetch:1:2)\n    at <main> (tool.ts:7:1)\n";
        assert_eq!(
            filtered(frames, "tool.ts", None),
            "\n    at f (tool.ts:3:9)\n    at tool.ts:7:1"
        );
    }
}
