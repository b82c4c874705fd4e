//! What is written in JavaScript. Each file is a function that takes natives and gives an object
//! with what it defines.

use std::{cell::RefCell, collections::BTreeMap, path::Path, rc::Rc};

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, Script, Source};

use super::{Native, address, encoding, functions, http, timers};
use crate::engine::call;

/// A file, and the names that it defines.
pub(super) const GROUPS: &[(&Group, &[&str])] = &[
    (
        &Group {
            path: "bulkhead:url",
            text: include_str!("../prelude/url.js"),
            natives: &[("parse", address::parse, 2), ("set", address::set, 3)],
        },
        &["URL", "URLSearchParams"],
    ),
    (
        &Group {
            path: "bulkhead:text",
            text: include_str!("../prelude/text.js"),
            natives: &[
                ("encode", encoding::encode, 1),
                ("decode", encoding::decode, 2),
            ],
        },
        &["TextEncoder", "TextDecoder"],
    ),
    (
        &Group {
            path: "bulkhead:abort",
            text: include_str!("../prelude/abort.js"),
            natives: &[("after", timers::after, 2)],
        },
        &["AbortController", "AbortSignal", "DOMException"],
    ),
    (
        &Group {
            path: "bulkhead:fetch",
            text: include_str!("../prelude/fetch.js"),
            natives: &[("send", http::send, 5)],
        },
        &["fetch", "Headers", "Request", "Response"],
    ),
    (
        &Group {
            path: "bulkhead:clone",
            text: include_str!("../prelude/clone.js"),
            natives: &[],
        },
        &["structuredClone"],
    ),
    (
        &Group {
            path: "bulkhead:buffer",
            text: include_str!("../prelude/buffer.js"),
            natives: &[
                ("toBase64", encoding::to_base64, 2),
                ("fromBase64", encoding::from_base64, 1),
            ],
        },
        &["Buffer"],
    ),
];

/// A file of JavaScript.
pub(super) struct Group {
    /// How its frames are called; tracebacks leave them out.
    path: &'static str,
    text: &'static str,
    /// What it gets from here.
    natives: &'static [(&'static str, Native, usize)],
}

/// What was defined already, by the path of the file.
type Defined = Rc<RefCell<BTreeMap<&'static str, JsObject>>>;

/// The value of a name that one of the files defines.
pub(super) fn get(name: &'static str, context: &mut Context) -> JsResult<JsValue> {
    let group = GROUPS.iter().find(|(_, names)| names.contains(&name));
    match group {
        Some((group, _)) => define(group, context)?.get(JsString::from(name), context),
        None => Ok(JsValue::undefined()),
    }
}

fn define(group: &Group, context: &mut Context) -> JsResult<JsObject> {
    if !context.has_data::<Defined>() {
        context.insert_data(Defined::default());
    }
    let defined = context
        .get_data::<Defined>()
        .map(Rc::clone)
        .unwrap_or_default();
    if let Some(known) = defined.borrow().get(group.path) {
        return Ok(known.clone());
    }
    let source = Source::from_bytes(group.text.as_bytes()).with_path(Path::new(group.path));
    let function = Script::parse(source, None, context)?.evaluate(context)?;
    let natives = functions(group.natives, context);
    let made = call(&function, &[natives.into()], context)?.to_object(context)?;
    defined.borrow_mut().insert(group.path, made.clone());
    Ok(made)
}
