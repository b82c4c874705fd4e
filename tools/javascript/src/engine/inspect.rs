//! Values as people read them, in the way of Node.js's `console.log`.

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, JsVariant,
    builtins::{
        date::Date, error::Error, function::OrdinaryFunction, promise::PromiseState,
        regexp::RegExp, typed_array::TypedArray,
    },
    js_string,
    object::builtins::{JsMap, JsPromise, JsSet},
};

use super::{error::headline, object_keys, traceback};

/// Objects within objects that are shown.
const MAX_DEPTH: usize = 2;
/// Elements of a list that are shown.
const MAX_ITEMS: usize = 100;
/// Characters of a line before it is broken.
const LINE: usize = 72;
/// Characters in one line of a long list of short elements.
const ROW: usize = 76;
/// Elements from which on a list is written in rows.
const ROWS_FROM: usize = 6;
/// Characters of a string that are shown within an object.
const MAX_TEXT: usize = 10_000;

/// A value as `console.log` shows it; strings without quotes.
pub(crate) fn shown(value: &JsValue, context: &mut Context) -> String {
    match value.as_string() {
        Some(text) => text.to_std_string_lossy(),
        None => inspect(value, context),
    }
}

/// A value; strings with quotes.
pub(crate) fn inspect(value: &JsValue, context: &mut Context) -> String {
    inspect_to(value, MAX_DEPTH, context)
}

/// As [`inspect`], with so many objects within objects.
pub(crate) fn inspect_to(value: &JsValue, depth: usize, context: &mut Context) -> String {
    let mut inspector = Inspector {
        depth,
        open: Vec::new(),
    };
    // Showing a value may run its code, and that may fail.
    inspector
        .value(value, context)
        .unwrap_or_else(|_| "[can't be shown]".to_owned())
}

struct Inspector {
    depth: usize,
    open: Vec<JsObject>,
}

impl Inspector {
    fn value(&mut self, value: &JsValue, context: &mut Context) -> JsResult<String> {
        Ok(match value.variant() {
            JsVariant::Undefined => "undefined".to_owned(),
            JsVariant::Null => "null".to_owned(),
            JsVariant::Boolean(value) => value.to_string(),
            JsVariant::String(text) => quoted(&text.to_std_string_lossy()),
            JsVariant::Integer32(number) => number.to_string(),
            JsVariant::Float64(0.0) => "-0".to_owned(),
            JsVariant::Float64(_) => value.to_string(context)?.to_std_string_lossy(),
            JsVariant::BigInt(number) => format!("{number}n"),
            JsVariant::Symbol(symbol) => symbol.descriptive_string().to_std_string_lossy(),
            JsVariant::Object(object) => self.object(&object, context)?,
        })
    }

    fn object(&mut self, object: &JsObject, context: &mut Context) -> JsResult<String> {
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            return Ok("[Circular]".to_owned());
        }
        if object.is::<Date>() {
            let text = JsValue::from(object.clone());
            let date = boa_engine::object::builtins::JsDate::from_object(object.clone())?;
            return Ok(match date.to_iso_string(context) {
                Ok(iso) => iso.to_string(context)?.to_std_string_lossy(),
                Err(_) => text.to_string(context)?.to_std_string_lossy(),
            });
        }
        if object.is::<RegExp>() {
            return Ok(JsValue::from(object.clone())
                .to_string(context)?
                .to_std_string_lossy());
        }
        let deep = self.open.len() > self.depth;
        if object.is::<Error>() {
            return self.error(object, deep, context);
        }
        let class = class_name(object, context);
        if deep {
            return Ok(match class.as_deref() {
                _ if object.is_array() => "[Array]".to_owned(),
                _ if object.is_callable() => function_name(object, context),
                None => "[Object: null prototype]".to_owned(),
                Some(name) => format!("[{name}]"),
            });
        }
        self.open.push(object.clone());
        let text = self.container(object, class.as_deref(), context);
        self.open.pop();
        text
    }

    fn error(&mut self, object: &JsObject, deep: bool, context: &mut Context) -> JsResult<String> {
        let mut text = headline(object, context);
        text.push_str(&traceback::of_object(object, context));
        if deep {
            return Ok(format!("[{text}]"));
        }
        self.open.push(object.clone());
        let mut items = self.members(object, context)?;
        let cause = object.get(js_string!("cause"), context)?;
        if !cause.is_undefined() {
            items.push(format!("[cause]: {}", self.value(&cause, context)?));
        }
        self.open.pop();
        Ok(match items.is_empty() {
            true => text,
            false => format!("{text} {}", self.braces('{', items, '}', false)),
        })
    }

    fn container(
        &mut self,
        object: &JsObject,
        class: Option<&str>,
        context: &mut Context,
    ) -> JsResult<String> {
        if object.is_array() || object.is::<TypedArray>() {
            let length = object
                .get(js_string!("length"), context)?
                .to_length(context)?;
            let plain = object.is_array() && class == Some("Array");
            let prefix = match class {
                _ if plain => String::new(),
                class => format!("{}({length}) ", class.unwrap_or("Array")),
            };
            let items = self.elements(object, length, context)?;
            return Ok(format!("{prefix}{}", self.braces('[', items, ']', true)));
        }
        if let Ok(map) = JsMap::from_object(object.clone()) {
            let mut entries = Vec::new();
            map.for_each_native(|key, value| {
                entries.push((key, value));
                Ok(())
            })?;
            let count = entries.len();
            let shown = entries.into_iter().take(MAX_ITEMS).map(|(key, value)| {
                let key = self.value(&key, context)?;
                Ok(format!("{key} => {}", self.value(&value, context)?))
            });
            let mut items = shown.collect::<JsResult<Vec<_>>>()?;
            more(&mut items, count);
            return Ok(format!(
                "Map({count}) {}",
                self.braces('{', items, '}', false)
            ));
        }
        if let Ok(set) = JsSet::from_object(object.clone()) {
            let mut values = Vec::new();
            set.for_each_native(|value| {
                values.push(value);
                Ok(())
            })?;
            let count = values.len();
            let shown = values.iter().take(MAX_ITEMS);
            let shown = shown.map(|value| self.value(value, context));
            let mut items = shown.collect::<JsResult<Vec<_>>>()?;
            more(&mut items, count);
            return Ok(format!(
                "Set({count}) {}",
                self.braces('{', items, '}', false)
            ));
        }
        if let Ok(promise) = JsPromise::from_object(object.clone()) {
            let state = match promise.state() {
                PromiseState::Pending => "<pending>".to_owned(),
                PromiseState::Fulfilled(value) => self.value(&value, context)?,
                PromiseState::Rejected(reason) => {
                    format!("<rejected> {}", self.value(&reason, context)?)
                }
            };
            return Ok(format!("Promise {{ {state} }}"));
        }
        let items = self.members(object, context)?;
        let prefix = match class {
            _ if object.is_callable() => {
                let name = function_name(object, context);
                if items.is_empty() {
                    return Ok(name);
                }
                format!("{name} ")
            }
            Some("Object") => String::new(),
            Some(name) => format!("{name} "),
            None => "[Object: null prototype] ".to_owned(),
        };
        Ok(format!("{prefix}{}", self.braces('{', items, '}', false)))
    }

    fn elements(
        &mut self,
        object: &JsObject,
        length: u64,
        context: &mut Context,
    ) -> JsResult<Vec<String>> {
        let mut items = Vec::new();
        let mut holes = 0_u64;
        for index in 0..length.min(MAX_ITEMS as u64) {
            if object.has_own_property(index, context)? {
                push_holes(&mut items, &mut holes);
                let value = object.get(index, context)?;
                items.push(self.value(&value, context)?);
            } else {
                holes += 1;
            }
        }
        push_holes(&mut items, &mut holes);
        match length.saturating_sub(MAX_ITEMS as u64) {
            0 => {}
            1 => items.push("... 1 more item".to_owned()),
            left => items.push(format!("... {left} more items")),
        }
        if object.is_array() {
            for key in object_keys(object, context)? {
                let name = key.to_std_string_lossy();
                if name.parse::<u64>().is_err() {
                    let value = object.get(key, context)?;
                    items.push(format!(
                        "{}: {}",
                        property(&name),
                        self.value(&value, context)?
                    ));
                }
            }
        }
        Ok(items)
    }

    fn members(&mut self, object: &JsObject, context: &mut Context) -> JsResult<Vec<String>> {
        let keys = object_keys(object, context)?;
        let count = keys.len();
        let mut items = Vec::new();
        for key in keys.into_iter().take(MAX_ITEMS) {
            let name = property(&key.to_std_string_lossy());
            let text = match accessor(object, &key) {
                Some(text) => text.to_owned(),
                None => {
                    let value = object.get(key, context)?;
                    self.value(&value, context)?
                }
            };
            items.push(format!("{name}: {text}"));
        }
        more(&mut items, count);
        Ok(items)
    }

    /// Items in one line if they fit, in rows if they are short elements, else one on each line.
    fn braces(&self, open: char, items: Vec<String>, close: char, list: bool) -> String {
        if items.is_empty() {
            return format!("{open}{close}");
        }
        let indent = " ".repeat(2 * self.open.len());
        let outer = " ".repeat(2 * self.open.len().saturating_sub(1));
        let length: usize = items.iter().map(|item| item.chars().count() + 2).sum();
        let broken = items.iter().any(|item| item.contains('\n'));
        let short = items
            .iter()
            .all(|item| item.chars().count() <= ROWS_FROM * 2);
        if list && items.len() > ROWS_FROM && short && !broken && length > LINE {
            let rows = rows(&items).join(&format!(",\n{indent}"));
            return format!("{open}\n{indent}{rows}\n{outer}{close}");
        }
        if length + indent.len() <= LINE && !broken {
            return format!("{open} {} {close}", items.join(", "));
        }
        let lines = items.join(&format!(",\n{indent}"));
        format!("{open}\n{indent}{lines}\n{outer}{close}")
    }
}

fn rows(items: &[String]) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for item in items {
        match rows.last_mut() {
            Some(row) if row.len() + item.len() + 2 <= ROW => {
                row.push_str(", ");
                row.push_str(item);
            }
            _ => rows.push(item.clone()),
        }
    }
    rows
}

fn push_holes(items: &mut Vec<String>, holes: &mut u64) {
    match std::mem::take(holes) {
        0 => {}
        1 => items.push("<1 empty item>".to_owned()),
        count => items.push(format!("<{count} empty items>")),
    }
}

/// Says how many of `count` items are left out.
fn more(items: &mut Vec<String>, count: usize) {
    match count.saturating_sub(MAX_ITEMS) {
        0 => {}
        1 => items.push("... 1 more item".to_owned()),
        left => items.push(format!("... {left} more items")),
    }
}

/// What stands for a property that is computed when it is read.
fn accessor(object: &JsObject, key: &JsString) -> Option<&'static str> {
    let object = object.borrow();
    let property = object.properties().get(&key.clone().into())?;
    if !property.is_accessor_descriptor() {
        return None;
    }
    let has = |part: Option<&JsValue>| part.is_some_and(|part| !part.is_undefined());
    Some(match (has(property.get()), has(property.set())) {
        (true, true) => "[Getter/Setter]",
        (true, false) => "[Getter]",
        _ => "[Setter]",
    })
}

/// The name of an object's class; none if it has no prototype.
fn class_name(object: &JsObject, context: &mut Context) -> Option<String> {
    let mut prototype = object.prototype();
    while let Some(current) = prototype {
        let class = current.get(js_string!("constructor"), context).ok()?;
        let name = class.as_object()?.get(js_string!("name"), context).ok()?;
        if let Some(name) = name.as_string()
            && !name.is_empty()
        {
            return Some(name.to_std_string_lossy());
        }
        prototype = current.prototype();
    }
    None
}

fn function_name(object: &JsObject, context: &mut Context) -> String {
    let name = object.get(js_string!("name"), context).ok();
    let name = name.and_then(|name| name.as_string());
    let name = name
        .map(|name| name.to_std_string_lossy())
        .unwrap_or_default();
    match (is_class(object), name.as_str()) {
        (true, "") => "[class (anonymous)]".to_owned(),
        (true, name) => format!("[class {name}]"),
        (false, "") => "[Function (anonymous)]".to_owned(),
        (false, name) => format!("[Function: {name}]"),
    }
}

/// Of all functions that programs write, only those of classes have a fixed `prototype`.
fn is_class(object: &JsObject) -> bool {
    let prototype = object
        .borrow()
        .properties()
        .get(&js_string!("prototype").into());
    object.is::<OrdinaryFunction>()
        && prototype.is_some_and(|prototype| prototype.writable() == Some(false))
}

/// A property's name, in quotes unless it is an identifier.
fn property(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "_$".contains(character);
    let digit = name.starts_with(|first: char| first.is_ascii_digit());
    let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if !name.is_empty() && name.chars().all(plain) && (!digit || number) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A string in those quotes that it does not hold.
fn quoted(text: &str) -> String {
    let quote = ['\'', '"', '`']
        .into_iter()
        .find(|quote| !text.contains(*quote))
        .unwrap_or('\'');
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars().take(MAX_TEXT) {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            character if character == quote => out.extend(['\\', quote]),
            control if control.is_control() => {
                out.push_str(&format!("\\x{:02X}", u32::from(control)));
            }
            other => out.push(other),
        }
    }
    out.push(quote);
    let left = text.chars().skip(MAX_TEXT).count();
    if left > 0 {
        out.push_str(&format!("... {left} more characters"));
    }
    out
}
