//! Arguments: from JSON to the parameters of a function. Nothing in them ever is code.

use boa_engine::{
    Context, JsResult, JsString, JsValue, js_string,
    object::builtins::{JsArray, JsDate},
};

use crate::{
    abi::Problem,
    engine::{self, Engine, json::to_json, object_keys},
    signature::{Field, Literal, Parameter, Shape, Signature},
};

/// Values within values that are accepted; the engine's reader recurses for each.
const MAX_NESTING: usize = 120;

/// The arguments in the order of the signature.
pub(crate) fn arguments(
    signature: &Signature,
    input: &str,
    order: &[String],
    engine: &mut Engine,
) -> Result<Vec<JsValue>, Vec<Problem>> {
    if nesting(input) > MAX_NESTING {
        let message = format!("is nested more than {MAX_NESTING} deep");
        return Err(vec![problem("", message)]);
    }
    let passed = engine
        .parse_json(input)
        .ok()
        .filter(|value| value.as_object().is_some_and(|object| !object.is_array()))
        .ok_or_else(|| {
            vec![problem(
                "",
                "must be a JSON object with the arguments".to_owned(),
            )]
        })?;
    let mut reader = Reader {
        context: &mut engine.context,
        problems: Vec::new(),
    };
    let arguments = reader
        .read(signature, &passed, order)
        .unwrap_or_else(|_| Vec::new());
    match reader.problems.is_empty() {
        true => Ok(arguments),
        false => Err(reader.problems),
    }
}

struct Reader<'e> {
    context: &'e mut Context,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn read(
        &mut self,
        signature: &Signature,
        passed: &JsValue,
        order: &[String],
    ) -> JsResult<Vec<JsValue>> {
        let object = passed.to_object(self.context)?;
        let keys = object_keys(&object, self.context)?;
        let all: Vec<String> = keys.iter().map(JsString::to_std_string_lossy).collect();
        let by_name = |name: &str| signature.all().any(|it| it.field.name == name);
        // Where the schema's names are not the function's, its order says which is which.
        let ordered = !signature.one_object && !all.iter().all(|name| by_name(name));
        let mut called: Vec<&str> = Vec::new();
        let mut values: Vec<JsValue> = Vec::new();
        for (index, parameter) in signature.parameters.iter().enumerate() {
            let own = parameter.field.name.as_str();
            let name = match ordered {
                true => order.get(index).map_or(own, String::as_str),
                false => own,
            };
            called.push(name);
            let value = object.get(JsString::from(name), self.context)?;
            values.push(self.argument(parameter, name, value)?);
        }
        let names: Vec<String>;
        if let Some(rest) = &signature.rest {
            let own = rest.field.name.as_str();
            let further = order.get(signature.parameters.len()..).unwrap_or_default();
            names = match ordered {
                true => further.to_vec(),
                false => vec![own.to_owned()],
            };
            for name in &names {
                let value = object.get(JsString::from(name.as_str()), self.context)?;
                let value = match ordered {
                    true => value,
                    false => self.argument(rest, name, value)?,
                };
                self.spread(value, &mut values)?;
            }
            called.extend(names.iter().map(String::as_str));
        }
        self.refuse_unknown(signature, &passed_names(&all, &called));
        if !signature.one_object {
            return Ok(values);
        }
        let whole = engine::object(self.context);
        for (parameter, value) in signature.parameters.iter().zip(values) {
            if !value.is_undefined() {
                let name = JsString::from(parameter.field.name.as_str());
                whole.create_data_property(name, value, self.context)?;
            }
        }
        Ok(vec![whole.into()])
    }

    fn spread(&mut self, value: JsValue, values: &mut Vec<JsValue>) -> JsResult<()> {
        match value.as_object().filter(|object| object.is_array()) {
            Some(list) => {
                let length = list.get(js_string!("length"), self.context)?;
                for index in 0..length.to_length(self.context)? {
                    values.push(list.get(index, self.context)?);
                }
            }
            None if value.is_undefined() => {}
            None => values.push(value),
        }
        Ok(())
    }

    fn refuse_unknown(&mut self, signature: &Signature, unknown: &[&String]) {
        let takes: Vec<&str> = signature.all().map(|it| it.field.name.as_str()).collect();
        let takes = match takes.as_slice() {
            [] => "it takes no arguments".to_owned(),
            names => format!("it takes: {}", names.join(", ")),
        };
        for name in unknown {
            let message = format!("is no argument of '{}'; {takes}", signature.name);
            self.problems.push(problem(&pointer("", name), message));
        }
    }

    fn argument(&mut self, parameter: &Parameter, name: &str, value: JsValue) -> JsResult<JsValue> {
        self.field(&parameter.field, &pointer("", name), value)
    }

    fn field(&mut self, field: &Field, at: &str, value: JsValue) -> JsResult<JsValue> {
        if value.is_undefined() {
            if !field.optional {
                self.problems.push(problem(at, "is missing".to_owned()));
            }
            return Ok(value);
        }
        // Models write null for what they leave out.
        if value.is_null() && field.optional && !accepts_null(&field.shape) {
            return Ok(JsValue::undefined());
        }
        self.coerced(value, &field.shape, at)
    }

    /// The value in the declared shape. What does not fit is a problem, and stays as it is.
    fn coerced(&mut self, value: JsValue, shape: &Shape, at: &str) -> JsResult<JsValue> {
        let fitting = match shape {
            Shape::Any => Some(value.clone()),
            Shape::Null => value.is_null().then(|| value.clone()),
            Shape::String => value.is_string().then(|| value.clone()),
            Shape::Number => number(&value),
            Shape::Integer => number(&value).filter(is_integer),
            Shape::Boolean => boolean(&value),
            Shape::Date => self.date(&value)?,
            Shape::Literals(literals) => literal(&value, literals),
            Shape::Array(items) => return self.array(value, shape, at, |_| Some(items)),
            Shape::Tuple(items) => return self.array(value, shape, at, |index| items.get(index)),
            Shape::Object(_) => return self.object(value, shape, at),
            Shape::Union(members) => return self.union(value, members, shape, at),
        };
        match fitting {
            Some(fitting) => Ok(fitting),
            None => {
                self.refuse(&value, shape, at)?;
                Ok(value)
            }
        }
    }

    fn refuse(&mut self, value: &JsValue, shape: &Shape, at: &str) -> JsResult<()> {
        let shown = to_json(value, self.context)?.unwrap_or_default();
        let shown: String = match shown.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown,
        };
        let message = format!("must be {}, not {shown}", shape.name());
        self.problems.push(problem(at, message));
        Ok(())
    }

    fn date(&mut self, value: &JsValue) -> JsResult<Option<JsValue>> {
        if !value.is_string() {
            return Ok(None);
        }
        let time = JsDate::parse(value.clone(), self.context)?;
        if time.as_number().is_none_or(f64::is_nan) {
            return Ok(None);
        }
        let date = JsDate::new(self.context);
        date.set_time(time, self.context)?;
        Ok(Some(date.into()))
    }

    fn array<'s>(
        &mut self,
        value: JsValue,
        shape: &Shape,
        at: &str,
        item: impl Fn(usize) -> Option<&'s Shape>,
    ) -> JsResult<JsValue> {
        let read = self.unquoted(&value, '[');
        let list = read.as_object().filter(|object| object.is_array());
        let Some(list) = list else {
            self.refuse(&value, shape, at)?;
            return Ok(value);
        };
        let length = list.get(js_string!("length"), self.context)?;
        let mut items = Vec::new();
        for index in 0..length.to_length(self.context)? {
            let element = list.get(index, self.context)?;
            let place = format!("{at}/{index}");
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            items.push(match item(index) {
                Some(shape) => self.coerced(element, shape, &place)?,
                None => element,
            });
        }
        Ok(JsArray::from_iter(items, self.context).into())
    }

    fn object(&mut self, value: JsValue, shape: &Shape, at: &str) -> JsResult<JsValue> {
        let Shape::Object(fields) = shape else {
            return Ok(value);
        };
        let read = self.unquoted(&value, '{');
        let object = read.as_object().filter(|object| !object.is_array());
        let Some(object) = object else {
            self.refuse(&value, shape, at)?;
            return Ok(value);
        };
        for field in &fields.list {
            let name = JsString::from(field.name.as_str());
            let value = object.get(name.clone(), self.context)?;
            let absent = value.is_undefined();
            let value = self.field(field, &pointer(at, &field.name), value)?;
            if !absent {
                object.create_data_property(name, value, self.context)?;
            }
        }
        if let Some(others) = &fields.others {
            for key in object_keys(&object, self.context)? {
                let name = key.to_std_string_lossy();
                if fields.list.iter().all(|field| field.name != name) {
                    let value = object.get(key.clone(), self.context)?;
                    let value = self.coerced(value, others, &pointer(at, &name))?;
                    object.create_data_property(key, value, self.context)?;
                }
            }
        }
        Ok(read)
    }

    /// The first member that the value fits as it is; else the first that it can be made to fit.
    fn union(
        &mut self,
        value: JsValue,
        members: &[Shape],
        shape: &Shape,
        at: &str,
    ) -> JsResult<JsValue> {
        let before = self.problems.len();
        let exact = members.iter().filter(|member| same_kind(&value, member));
        let others = members.iter().filter(|member| !same_kind(&value, member));
        let mut first = None;
        for member in exact.chain(others) {
            let coerced = self.coerced(value.clone(), member, at)?;
            if self.problems.len() == before {
                return Ok(coerced);
            }
            let found = self.problems.split_off(before);
            // What is wrong within a value of the right kind says more than a list of kinds.
            if first.is_none() && same_kind(&value, member) {
                first = Some(found);
            }
        }
        match first {
            Some(found) => self.problems.extend(found),
            None => self.refuse(&value, shape, at)?,
        }
        Ok(value)
    }

    /// A list or object that came as its own JSON text.
    fn unquoted(&mut self, value: &JsValue, bracket: char) -> JsValue {
        let Some(text) = value.as_string().map(|text| text.to_std_string_lossy()) else {
            return value.clone();
        };
        if !text.trim_start().starts_with(bracket) || nesting(&text) > MAX_NESTING {
            return value.clone();
        }
        engine::parse_json(&text, self.context).unwrap_or_else(|_| value.clone())
    }
}

/// Those names of the input that no parameter was filled from.
fn passed_names<'n>(all: &'n [String], called: &[&str]) -> Vec<&'n String> {
    let unknown = |name: &&String| !called.contains(&name.as_str());
    all.iter().filter(unknown).collect()
}

fn accepts_null(shape: &Shape) -> bool {
    match shape {
        Shape::Any | Shape::Null => true,
        Shape::Union(members) => members.iter().any(accepts_null),
        _ => false,
    }
}

/// Whether a value is of the kind that a shape is about, whatever is in it.
fn same_kind(value: &JsValue, shape: &Shape) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Null => value.is_null(),
        Shape::String | Shape::Date => value.is_string(),
        Shape::Number | Shape::Integer => value.is_number(),
        Shape::Boolean => value.is_boolean(),
        Shape::Array(_) | Shape::Tuple(_) => value.as_object().is_some_and(|it| it.is_array()),
        Shape::Object(_) => value.as_object().is_some_and(|it| !it.is_array()),
        Shape::Literals(literals) => literals.iter().any(|literal| equals(value, literal)),
        Shape::Union(members) => members.iter().any(|member| same_kind(value, member)),
    }
}

fn number(value: &JsValue) -> Option<JsValue> {
    if value.is_number() {
        return Some(value.clone());
    }
    let text = value.as_string()?.to_std_string_lossy();
    let number: f64 = text.trim().parse().ok()?;
    number.is_finite().then(|| JsValue::new(number))
}

fn is_integer(value: &JsValue) -> bool {
    value
        .as_number()
        .is_some_and(|number| number.fract() == 0.0)
}

fn boolean(value: &JsValue) -> Option<JsValue> {
    if value.is_boolean() {
        return Some(value.clone());
    }
    match value.as_string()?.to_std_string_lossy().trim() {
        "true" | "True" => Some(true.into()),
        "false" | "False" => Some(false.into()),
        _ => None,
    }
}

fn literal(value: &JsValue, literals: &[Literal]) -> Option<JsValue> {
    if literals.iter().any(|literal| equals(value, literal)) {
        return Some(value.clone());
    }
    // "5" for 5.
    let number = number(value)?;
    let fits = |literal: &Literal| equals(&number, literal);
    literals.iter().any(fits).then_some(number)
}

fn equals(value: &JsValue, literal: &Literal) -> bool {
    match literal {
        Literal::String(text) => value
            .as_string()
            .is_some_and(|value| value.to_std_string_lossy() == *text),
        Literal::Number(number) => value.as_number() == Some(*number),
        Literal::Boolean(flag) => value.as_boolean() == Some(*flag),
    }
}

fn problem(at: &str, message: String) -> Problem {
    Problem {
        at: at.to_owned(),
        message,
    }
}

/// The JSON Pointer of a member.
fn pointer(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// How deep brackets are nested in JSON; those in strings count for nothing.
fn nesting(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
