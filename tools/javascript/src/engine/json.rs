//! Values as JSON: as `JSON.stringify` writes them, and more where it would lose what a tool
//! returns. A map is an object (or a list of pairs, if its keys are no strings), a set and a typed
//! array are arrays, a big integer is a string, and an error has its name and message.

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, JsVariant,
    builtins::{error::Error, typed_array::TypedArray},
    js_string,
    object::builtins::{JsMap, JsSet},
};

use super::{error::headline, object_keys};

/// Values within values. Deeper ones are a mistake, and the stack ends somewhere.
const MAX_DEPTH: usize = 100;

/// A value as JSON; none for what JSON has no word for (`undefined`, a function, a symbol).
pub(crate) fn to_json(value: &JsValue, context: &mut Context) -> JsResult<Option<String>> {
    let mut writer = Writer {
        out: String::new(),
        open: Vec::new(),
        path: Vec::new(),
    };
    let written = writer.value(value, context)?;
    Ok(written.then_some(writer.out))
}

/// A string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Writer {
    out: String,
    /// Objects that are being written.
    open: Vec<JsObject>,
    /// The names that lead to what is written.
    path: Vec<String>,
}

impl Writer {
    /// Writes a value; false, and nothing is written, if there is no word for it.
    fn value(&mut self, value: &JsValue, context: &mut Context) -> JsResult<bool> {
        match value.variant() {
            JsVariant::Undefined | JsVariant::Symbol(_) => return Ok(false),
            JsVariant::Null => self.out.push_str("null"),
            JsVariant::Boolean(value) => self.out.push_str(if value { "true" } else { "false" }),
            JsVariant::String(text) => self.out.push_str(&quoted(&text.to_std_string_lossy())),
            JsVariant::Integer32(number) => self.out.push_str(&number.to_string()),
            JsVariant::Float64(number) if number.is_finite() => {
                let text = value.to_string(context)?;
                // JSON has one zero.
                let text = if number == 0.0 { js_string!("0") } else { text };
                self.out.push_str(&text.to_std_string_lossy());
            }
            JsVariant::Float64(_) => self.out.push_str("null"),
            JsVariant::BigInt(number) => self.out.push_str(&quoted(&number.to_string())),
            JsVariant::Object(object) => return self.object(&object, context),
        }
        Ok(true)
    }

    fn object(&mut self, object: &JsObject, context: &mut Context) -> JsResult<bool> {
        let to_json = object.get(js_string!("toJSON"), context)?;
        if let Some(to_json) = to_json.as_callable() {
            let key = JsString::from(self.path.last().map_or("", String::as_str));
            let replaced = to_json.call(&object.clone().into(), &[key.into()], context)?;
            return match replaced.as_object() {
                Some(same) if JsObject::equals(&same, object) => self.contents(object, context),
                Some(other) if self.open.len() < MAX_DEPTH => self.contents(&other, context),
                _ => self.value(&replaced, context),
            };
        }
        if object.is_callable() {
            return Ok(false);
        }
        self.contents(object, context)
    }

    fn contents(&mut self, object: &JsObject, context: &mut Context) -> JsResult<bool> {
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            return Err(self.refused("it contains itself", context));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.refused("it is nested too deep", context));
        }
        self.open.push(object.clone());
        self.container(object, context)?;
        self.open.pop();
        Ok(true)
    }

    fn container(&mut self, object: &JsObject, context: &mut Context) -> JsResult<()> {
        if object.is_array() || object.is::<TypedArray>() {
            let length = object
                .get(js_string!("length"), context)?
                .to_length(context)?;
            let items = (0..length).map(Item::Index);
            return self.list(object, items, context);
        }
        if let Ok(set) = JsSet::from_object(object.clone()) {
            let mut items = Vec::new();
            set.for_each_native(|item| {
                items.push(Item::Value(item));
                Ok(())
            })?;
            return self.list(object, items, context);
        }
        if let Ok(map) = JsMap::from_object(object.clone()) {
            let mut entries = Vec::new();
            map.for_each_native(|key, value| {
                entries.push((key, value));
                Ok(())
            })?;
            return self.map(object, entries, context);
        }
        if object.is::<Error>() {
            let text = headline(object, context);
            let (name, message) = text.split_once(": ").unwrap_or((text.as_str(), ""));
            let known = [("name", name), ("message", message)];
            let known = known.map(|(key, text)| (key.to_owned(), JsString::from(text).into()));
            return self.fields(known.to_vec(), Some(object), context);
        }
        self.fields(Vec::new(), Some(object), context)
    }

    fn list(
        &mut self,
        object: &JsObject,
        items: impl IntoIterator<Item = Item>,
        context: &mut Context,
    ) -> JsResult<()> {
        self.out.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            let value = match item {
                Item::Value(value) => value,
                Item::Index(index) => object.get(index, context)?,
            };
            self.path.push(index.to_string());
            if !self.value(&value, context)? {
                self.out.push_str("null");
            }
            self.path.pop();
        }
        self.out.push(']');
        Ok(())
    }

    fn map(
        &mut self,
        object: &JsObject,
        entries: Vec<(JsValue, JsValue)>,
        context: &mut Context,
    ) -> JsResult<()> {
        if entries.iter().all(|(key, _)| key.is_string()) {
            let named = entries
                .into_iter()
                .filter_map(|(key, value)| Some((key.as_string()?.to_std_string_lossy(), value)));
            return self.fields(named.collect(), None, context);
        }
        let pairs = entries.into_iter().map(|(key, value)| {
            Item::Value(
                boa_engine::object::builtins::JsArray::from_iter([key, value], context).into(),
            )
        });
        let pairs: Vec<Item> = pairs.collect();
        self.list(object, pairs, context)
    }

    /// An object with `known` members and those of `own`.
    fn fields(
        &mut self,
        known: Vec<(String, JsValue)>,
        own: Option<&JsObject>,
        context: &mut Context,
    ) -> JsResult<()> {
        self.out.push('{');
        let begin = self.out.len();
        for (name, value) in known {
            self.field(begin, name, &value, context)?;
        }
        if let Some(object) = own {
            for key in object_keys(object, context)? {
                let value = object.get(key.clone(), context)?;
                self.field(begin, key.to_std_string_lossy(), &value, context)?;
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn field(
        &mut self,
        begin: usize,
        name: String,
        value: &JsValue,
        context: &mut Context,
    ) -> JsResult<()> {
        let before = self.out.len();
        if before > begin {
            self.out.push(',');
        }
        self.out.push_str(&quoted(&name));
        self.out.push(':');
        self.path.push(name);
        if !self.value(value, context)? {
            self.out.truncate(before);
        }
        self.path.pop();
        Ok(())
    }

    fn refused(&self, why: &str, _: &Context) -> boa_engine::JsError {
        let place = match self.path.as_slice() {
            [] => String::new(),
            path => format!(" (at {})", path[..path.len().min(8)].join(".")),
        };
        JsNativeError::typ()
            .with_message(format!("the result can't be written as JSON: {why}{place}"))
            .into()
    }
}

enum Item {
    Index(u64),
    Value(JsValue),
}
