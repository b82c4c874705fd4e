//! A document taken apart: lists as the texts of their entries. A few bytes of JSON can become a
//! hundred times as many in memory, so that nothing is built before its size is known.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

use super::{ENTRIES_MAX, MESSAGES_MAX, PIECE_BYTES_MAX};

/// The lists of a document, each as its text; what else is in it does not matter.
#[derive(Deserialize)]
pub(super) struct Lists<'a> {
    #[serde(borrow)]
    pub(super) agents: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) groups: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) blocks: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) files: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) sources: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tools: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) mcp_servers: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) skills: Option<&'a RawValue>,
}

/// The entries of a list, `MAX` at most, each as its text.
#[derive(Default)]
pub(super) struct Pieces<'a, const MAX: usize>(pub(super) Vec<&'a RawValue>);

impl<'de: 'a, 'a, const MAX: usize> Deserialize<'de> for Pieces<'a, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading<const MAX: usize>;

        impl<'de, const MAX: usize> Visitor<'de> for Reading<MAX> {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut pieces = Vec::new();
                while let Some(piece) = list.next_element()? {
                    if pieces.len() == MAX {
                        return Err(A::Error::custom(format_args!("more than {MAX} entries")));
                    }
                    pieces.push(piece);
                }
                Ok(pieces)
            }
        }

        deserializer.deserialize_seq(Reading::<MAX>).map(Self)
    }
}

/// An agent of a document: its own fields, and its lists of entries as texts.
#[derive(Default)]
pub(super) struct AgentPieces<'a> {
    pub(super) fields: Map<String, Value>,
    pub(super) messages: Pieces<'a, MESSAGES_MAX>,
    pub(super) files_agents: Pieces<'a, ENTRIES_MAX>,
}

impl<'de: 'a, 'a> Deserialize<'de> for AgentPieces<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;

        impl<'de> Visitor<'de> for Reading {
            type Value = AgentPieces<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let mut agent = AgentPieces::default();
                let mut bytes = 0_usize;
                while let Some(name) = fields.next_key::<String>()? {
                    match name.as_str() {
                        "messages" => agent.messages = fields.next_value()?,
                        "files_agents" => agent.files_agents = fields.next_value()?,
                        _ => {
                            let text: &RawValue = fields.next_value()?;
                            bytes = bytes.saturating_add(text.get().len());
                            if bytes > PIECE_BYTES_MAX {
                                return Err(A::Error::custom(format_args!(
                                    "an agent without its messages has more than \
                                     {PIECE_BYTES_MAX} bytes"
                                )));
                            }
                            let value = serde_json::from_str(text.get());
                            let value = value.map_err(A::Error::custom)?;
                            agent.fields.insert(name, value);
                        }
                    }
                }
                Ok(agent)
            }
        }

        deserializer.deserialize_map(Reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_as_many_entries_as_it_may_and_they_keep_their_text() {
        let two: Pieces<'_, 2> = serde_json::from_str(r#"[ {"a": [1]}, null ]"#).expect("a list");
        let texts: Vec<_> = two.0.iter().map(|piece| piece.get()).collect();
        assert_eq!(texts, [r#"{"a": [1]}"#, "null"]);
        for (text, reason) in [
            ("[1, 2, 3]", "more than 2 entries"),
            ("{}", "expected a list"),
        ] {
            let refused = serde_json::from_str::<Pieces<'_, 2>>(text).err();
            let refused = refused.map(|error| error.to_string()).unwrap_or_default();
            assert!(refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn an_agent_s_messages_are_no_part_of_its_size() {
        let long = "x".repeat(PIECE_BYTES_MAX);
        let text = format!(r#"{{"id": "agent-0", "messages": ["{long}"]}}"#);
        let agent: AgentPieces<'_> = serde_json::from_str(&text).expect("it is read");
        assert_eq!((agent.fields.len(), agent.messages.0.len()), (1, 1));
        let text = format!(r#"{{"metadata": {{"a": "{long}"}}}}"#);
        assert!(serde_json::from_str::<AgentPieces<'_>>(&text).is_err());
    }
}
