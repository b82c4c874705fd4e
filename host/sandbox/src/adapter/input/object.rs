//! JSON objects: records and parameters, maps with string keys, and variants.

use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::{
    super::{
        problems::one_of,
        shape::{Case, Field, Shape, TAG, VALUE},
    },
    Reader, push,
};

impl<'a> Reader<'a> {
    pub(super) fn fields(&mut self, fields: &'a [Field], json: &'a Value) -> Option<Vec<Val>> {
        let Value::Object(object) = json else {
            return self.expected("an object", json);
        };
        // A name for each value.
        self.spend(fields.len())?;
        let names = fields.iter().map(|field| field.name.json.as_str());
        let mut values = self.only_known(names, object).then(Vec::new);
        for field in fields {
            if self.is_done() {
                return None;
            }
            let value = self.property(&field.name.json, &field.shape, object);
            values = push(values, value);
        }
        values
    }

    /// The property `name` of `object`; may be missing where it is optional.
    fn property(
        &mut self,
        name: &'a str,
        shape: &'a Shape,
        object: &'a Map<String, Value>,
    ) -> Option<Val> {
        match object.get(name) {
            Some(json) => {
                self.problems.enter(name);
                let value = self.read(shape, json);
                self.problems.leave();
                value
            }
            None if shape.is_optional() => {
                self.spend(1)?;
                Some(Val::Option(None))
            }
            None => self.problem(format!("the property `{name}` is missing")),
        }
    }

    /// Whether `object` has properties of these names only.
    fn only_known<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str> + Clone,
        object: &'a Map<String, Value>,
    ) -> bool {
        let known = names
            .clone()
            .filter(|name| object.contains_key(*name))
            .count();
        if known == object.len() {
            return true;
        }
        let unknown = object
            .keys()
            .filter(|key| names.clone().all(|name| name != *key));
        for key in unknown {
            if self.is_done() {
                break;
            }
            let expected = one_of(names.clone());
            self.problems.enter(key);
            self.problems
                .add(format!("there is no such property; expected {expected}"));
            self.problems.leave();
        }
        false
    }

    pub(super) fn dictionary(&mut self, shape: &'a Shape, json: &'a Value) -> Option<Val> {
        let Value::Object(object) = json else {
            return self.expected("an object", json);
        };
        let mut entries = Some(Vec::new());
        for (key, json) in object {
            if self.is_done() {
                return None;
            }
            self.problems.enter(key);
            let value = self.read(shape, json);
            self.problems.leave();
            let entry = value.map(|value| (Val::String(key.clone()), value));
            entries = push(entries, entry);
        }
        entries.map(Val::Map)
    }

    /// The case that `json` names, and its value.
    pub(super) fn tagged(
        &mut self,
        cases: &'a [Case],
        json: &'a Value,
    ) -> Option<(&'a Case, Option<Box<Val>>)> {
        let names = cases.iter().map(|case| case.name.json.as_str());
        let Value::Object(object) = json else {
            let tags = one_of(names);
            return self.expected(&format!("an object whose `{TAG}` is {tags}"), json);
        };
        let Some(tag) = object.get(TAG) else {
            let tags = one_of(names);
            return self.problem(format!("the property `{TAG}` is missing; expected {tags}"));
        };
        let case = cases
            .iter()
            .find(|case| tag.as_str() == Some(&case.name.json));
        let Some(case) = case else {
            self.problems.enter(TAG);
            self.expected::<()>(&one_of(names), tag);
            self.problems.leave();
            return None;
        };
        let allowed: &[&str] = if case.shape.is_some() {
            &[TAG, VALUE]
        } else {
            &[TAG]
        };
        let known = self.only_known(allowed.iter().copied(), object);
        let value = match &case.shape {
            Some(shape) => Some(Box::new(self.property(VALUE, shape, object)?)),
            None => None,
        };
        known.then_some((case, value))
    }
}
