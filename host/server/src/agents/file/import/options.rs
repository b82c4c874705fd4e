//! What a client says of an import beside the file.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::contract::Refusal;

/// What a client says of an import.
pub(crate) struct Options {
    /// The name of every agent, in place of the file's.
    pub(crate) name: Option<String>,
    /// Whether a name of the file gets an addition, so that it is told from the original.
    pub(crate) append_copy_suffix: bool,
    /// The handle of the model, in place of the file's.
    pub(crate) model: Option<String>,
    /// The handle of the embedding model, in place of the file's.
    pub(crate) embedding: Option<String>,
    /// Whether a tool from source that is there gets the source of the file's tool of its name.
    pub(crate) override_existing_tools: bool,
    /// Whether the history stays behind.
    pub(crate) strip_messages: bool,
    /// Values for the secrets that the file names.
    pub(crate) secrets: BTreeMap<String, String>,
    /// The project of the agents.
    pub(crate) project_id: Option<String>,
}

/// Printed without the values of secrets.
impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("embedding", &self.embedding)
            .field("secrets", &self.secrets.keys())
            .finish_non_exhaustive()
    }
}

/// Nothing but the contract's defaults.
impl Default for Options {
    fn default() -> Self {
        Self {
            name: None,
            append_copy_suffix: true,
            model: None,
            embedding: None,
            override_existing_tools: true,
            strip_messages: false,
            secrets: BTreeMap::new(),
            project_id: None,
        }
    }
}

/// The secrets of a text: a JSON object of texts. A refusal holds no value.
pub(crate) fn secrets(text: &str) -> Result<BTreeMap<String, String>, Refusal> {
    let Ok(Value::Object(entries)) = serde_json::from_str(text) else {
        return Err(Refusal::bad_request("secrets must be a valid JSON string"));
    };
    let secrets = entries.into_iter().map(|(key, value)| match value {
        Value::String(value) => Ok((key, value)),
        _ => Err(Refusal::bad_request(format!(
            "secrets must map names to texts; the value of '{key}' is none"
        ))),
    });
    secrets.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let Err(Refusal::Contract(status, body)) = secrets(text) else {
            panic!("it is refused in the contract's words");
        };
        assert_eq!(status, 400);
        body["detail"].as_str().expect("a text").to_owned()
    }

    #[test]
    fn secrets_are_an_object_of_texts() {
        let read = secrets(r#"{"KEY": "value"}"#).expect("they are read");
        assert_eq!(read["KEY"], "value");
        for text in ["", "{", "[]", "7", "null", "\"{}\""] {
            assert_eq!(refused(text), "secrets must be a valid JSON string");
        }
        let text = refused(r#"{"KEY": ["hunter2"]}"#);
        assert!(
            text.contains("'KEY'") && !text.contains("hunter2"),
            "{text}"
        );
    }
}
