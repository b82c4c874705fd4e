//! Messages of JSON-RPC 2.0, as MCP uses it.

use bulkhead_egress::Scrubber;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{McpError, error::excerpt, plain};

/// Bytes of the id of a message; ours are numbers, and those of servers are short.
const ID_MAX: usize = 256;

/// What the id of a request that a server makes looks like on the wire.
pub(crate) type Id = Box<RawValue>;

/// A message of a server.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// The answer to the request with this id.
    Answer(Id, Result<Box<RawValue>, McpError>),
    /// A request of its own.
    Request(Id, String),
    /// What needs no answer.
    Notification,
}

#[derive(Deserialize)]
struct Message {
    id: Option<Id>,
    method: Option<String>,
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

/// A request.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Bytes {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    message.to_string().into()
}

/// What needs no answer.
pub(crate) fn notification(method: &str, params: Option<&Value>) -> Bytes {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(params) = params {
        message["params"] = params.clone();
    }
    message.to_string().into()
}

/// The answer to a request of a server: a ping is answered, and nothing else is offered.
pub(crate) fn answer(id: &Id, method: &str) -> Bytes {
    let message = match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => json!({
            "jsonrpc": "2.0", "id": id,
            "error": { "code": -32601, "message": "this client does not offer that" },
        }),
    };
    message.to_string().into()
}

/// Reads a message of a server. What is sent to the server alone is masked in it, so that nothing that
/// is made of the message holds it.
pub(crate) fn parse(text: &[u8], scrubber: &Scrubber) -> Result<Incoming, McpError> {
    let text = plain::masked(text, scrubber);
    let message: Message = serde_json::from_slice(&text).map_err(|error| {
        // The error says where it stopped, and quotes what stood there.
        let text = excerpt(&error.to_string());
        McpError::protocol(format!("no message of JSON-RPC ({text})"))
    })?;
    let Message {
        id,
        method,
        result,
        error,
    } = message;
    if id.as_ref().is_some_and(|id| id.get().len() > ID_MAX) {
        return Err(McpError::protocol("a message with an endless id"));
    }
    // An error about a message that could not be read has the id null.
    match (id.filter(|id| id.get() != "null"), method, result, error) {
        (Some(id), Some(method), ..) => Ok(Incoming::Request(id, excerpt(&method))),
        (None, Some(_), ..) => Ok(Incoming::Notification),
        (Some(id), None, _, Some(error)) => Ok(Incoming::Answer(id, Err(refused(error)))),
        (Some(id), None, Some(result), None) => Ok(Incoming::Answer(id, Ok(result))),
        (None, None, _, Some(error)) => Err(refused(error)),
        _ => Err(McpError::protocol(
            "a message that is neither a request nor an answer",
        )),
    }
}

/// Whether an answer's id is that of our request. Some servers make a text of it.
pub(crate) fn is_ours(id: &Id, ours: u64) -> bool {
    let id = id.get();
    id.strip_prefix('"')
        .and_then(|id| id.strip_suffix('"'))
        .unwrap_or(id)
        == ours.to_string()
}

fn refused(error: RpcError) -> McpError {
    McpError::Refused {
        code: error.code,
        message: excerpt(&error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "Answer(1, Ok"),
            (
                r#"{"id":"1","error":{"code":-1,"message":"no"}}"#,
                "Answer(\"1\", Err",
            ),
            (r#"{"id":7,"method":"ping"}"#, "Request(7"),
            (
                r#"{"method":"notifications/message","params":{}}"#,
                "Notification",
            ),
        ] {
            let parsed = parse(text.as_bytes(), &Scrubber::none())
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = match parsed {
                Incoming::Answer(id, answer) => {
                    let way = if answer.is_ok() { "Ok" } else { "Err" };
                    assert!(is_ours(&id, 1));
                    format!("Answer({}, {way}", id.get())
                }
                Incoming::Request(id, _) => format!("Request({}", id.get()),
                Incoming::Notification => "Notification".to_owned(),
            };
            assert_eq!(found, expected);
        }
        let credentials = crate::headers::tests::credentials("x", "very-secret-value");
        let scrubber = Scrubber::new(&credentials);
        for text in [
            r#"{"id":1,"error":{"code":1,"message":"it is \u0076ery-secret-value"}}"#,
            r#"{"id":1,"error":{"code":"\u0076ery-secret-value"}}"#,
        ] {
            let (Ok(Incoming::Answer(_, Err(error))) | Err(error)) =
                parse(text.as_bytes(), &scrubber)
            else {
                panic!("{text} is an error");
            };
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        for text in [
            "",
            "[]",
            "7",
            "{}",
            r#"{"id":1}"#,
            r#"{"id":null,"error":{"code":1,"message":"x"}}"#,
        ] {
            assert!(parse(text.as_bytes(), &Scrubber::none()).is_err(), "{text}");
        }
    }
}
