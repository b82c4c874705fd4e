//! The message of a user in OpenAI's form, as agents take it.

use serde_json::{Value, json};

use crate::contract::Refusal;

/// The last message of the user, in the form of a message to an agent.
pub(super) fn last_of_user(messages: &[Value]) -> Result<Value, Refusal> {
    let mut of_user = messages.iter().filter(|message| message["role"] == "user");
    let last = of_user.next_back().ok_or_else(|| {
        refused(
            "No user message found in the request. Please include at least one message with \
             role='user'.",
        )
    })?;
    let content = match &last["content"] {
        Value::String(text) => json!(text),
        Value::Array(parts) => parts.iter().map(part).collect::<Result<_, _>>()?,
        _ => {
            return Err(refused(
                "the content of the last user message must be a text or a list",
            ));
        }
    };
    let mut message = json!({ "role": "user", "content": content });
    if let Value::String(name) = &last["name"] {
        message["name"] = json!(name);
    }
    Ok(message)
}

fn refused(reason: &str) -> Refusal {
    Refusal::bad_request(format!("INVALID_ARGUMENT: {reason}"))
}

/// A part of a content: a text or an image.
fn part(part: &Value) -> Result<Value, Refusal> {
    match part["type"].as_str().unwrap_or_default() {
        "text" => match &part["text"] {
            Value::String(text) => Ok(json!({ "type": "text", "text": text })),
            _ => Err(refused("a content part of the type text needs its text")),
        },
        "image_url" => match part["image_url"]["url"].as_str() {
            Some(url) => Ok(json!({ "type": "image", "source": image(url)? })),
            None => Err(refused(
                "a content part of the type image_url needs its image_url.url",
            )),
        },
        other => Err(refused(&format!(
            "an agent takes content parts of the types text and image_url, not '{other}'"
        ))),
    }
}

/// Where an image is: in the URL itself, or elsewhere.
fn image(url: &str) -> Result<Value, Refusal> {
    let Some(data) = url.strip_prefix("data:") else {
        return Ok(json!({ "type": "url", "url": url }));
    };
    let parts = data.split_once(',');
    let parts = parts.and_then(|(head, data)| Some((head.strip_suffix(";base64")?, data)));
    match parts {
        Some((media_type, data)) if media_type.starts_with("image/") => {
            Ok(json!({ "type": "base64", "media_type": media_type, "data": data }))
        }
        _ => Err(refused(
            "an image in a data URL must be data:image/…;base64,…",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(messages: Value) -> String {
        let messages = messages.as_array().expect("a list");
        match last_of_user(messages) {
            Err(Refusal::Contract(status, body)) if status == 400 => body["detail"].to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_message_of_the_user_counts() {
        let messages = [
            json!({ "role": "user", "content": "first" }),
            json!({ "role": "user", "content": "last", "name": "Ada" }),
            json!({ "role": "assistant", "content": "no" }),
        ];
        let expected = json!({ "role": "user", "content": "last", "name": "Ada" });
        assert_eq!(last_of_user(&messages).ok(), Some(expected));
    }

    #[test]
    fn texts_and_images_are_taken_over() {
        let data = "data:image/png;base64,QUJD";
        let messages = [json!({ "role": "user", "content": [
            { "type": "text", "text": "What is it?" },
            { "type": "image_url", "image_url": { "url": data, "detail": "low" } },
            { "type": "image_url", "image_url": { "url": "https://example.com/a.png" } },
        ] })];
        let expected = json!([
            { "type": "text", "text": "What is it?" },
            { "type": "image", "source":
                { "type": "base64", "media_type": "image/png", "data": "QUJD" } },
            { "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } },
        ]);
        let message = last_of_user(&messages).expect("a message");
        assert_eq!(message["content"], expected);
    }

    #[test]
    fn what_no_agent_takes_is_refused() {
        let one = |part: Value| json!([{ "role": "user", "content": [part] }]);
        for (messages, expected) in [
            (json!([]), "No user message found in the request."),
            (
                json!([{ "role": "system", "content": "x" }]),
                "No user message found",
            ),
            (json!([{ "role": "user" }]), "must be a text or a list"),
            (one(json!({ "type": "text" })), "needs its text"),
            (one(json!({ "type": "input_audio" })), "not 'input_audio'"),
            (
                one(json!({ "type": "image_url", "image_url": { "url": "data:text/html,x" } })),
                "must be data:image/",
            ),
        ] {
            let text = refusal(messages);
            assert!(text.contains(expected), "{text}");
        }
    }
}
