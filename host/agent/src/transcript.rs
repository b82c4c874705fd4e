//! Stored messages in the form that a model is sent, and as text that one reads.

use std::fmt::Write as _;

use bulkhead_domain::{Message, Part, Role, ToolStatus};
use bulkhead_llm::ChatMessage;

/// What a model reads that sees no images, after a result that has some.
const IMAGE_LEFT_OUT: &str = "\n[Image left out: this model does not see images]";
/// Bytes of a transcript for each token of the model's window: fewer than the four of plain English,
/// since the request has more in it than the transcript.
pub(crate) const CHARS_PER_TOKEN: i64 = 3;

/// What was said, a line for each text, call and result, at most about `most` bytes of it: the middle is
/// what goes.
pub(crate) fn plain<'a>(messages: impl IntoIterator<Item = &'a Message>, most: usize) -> String {
    let mut lines = String::new();
    for message in messages {
        let who = match message.role {
            Role::Approval | Role::Assistant => "assistant",
            role => role.as_str(),
        };
        let text = message.plain_text();
        if !text.is_empty() {
            let _ = writeln!(lines, "[{who}] {text}");
        }
        for call in &message.tool_calls {
            let _ = writeln!(lines, "[{who}] calls {}({})", call.name, call.arguments);
        }
        for returned in &message.tool_returns {
            let _ = writeln!(lines, "[tool {}] {}", returned.name, returned.text);
        }
    }
    if lines.len() > most {
        let half = most / 2;
        let (head, tail) = (lines.floor_char_boundary(half), lines.len() - half);
        let tail = lines.ceil_char_boundary(tail);
        lines = format!("{}\n[…]\n{}", &lines[..head], &lines[tail..]);
    }
    lines
}

/// The conversation of these messages, oldest first; the system prompt is none of them.
///
/// A step's text and its request for approval may be stored as two messages; the model sees the one
/// answer that it gave. Answers to requests for approval are not sent.
pub(crate) fn chat_messages(messages: &[Message]) -> Vec<ChatMessage> {
    let mut chat: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut last_step = None;
    for message in messages {
        let step = message.step_id;
        match message.role {
            Role::System => chat.push(ChatMessage::System(message.plain_text())),
            Role::User | Role::Summary => chat.push(ChatMessage::User(message.content.clone())),
            Role::Assistant | Role::Approval => {
                if message.role == Role::Approval && !message.is_approval_request() {
                    continue;
                }
                let same_answer = step.is_some() && last_step == Some(step);
                match chat.last_mut() {
                    Some(ChatMessage::Assistant {
                        content,
                        tool_calls,
                        ..
                    }) if same_answer => {
                        content.extend(message.content.iter().cloned());
                        tool_calls.extend(message.tool_calls.iter().cloned());
                    }
                    _ => chat.push(ChatMessage::Assistant {
                        content: message.content.clone(),
                        tool_calls: message.tool_calls.clone(),
                        model: message.model.clone(),
                    }),
                }
                last_step = Some(step);
                continue;
            }
            Role::Tool => chat.extend(message.tool_returns.iter().map(|returned| {
                let parts = returned.parts.iter().flatten();
                let images = parts.filter(|part| matches!(part, Part::Image { .. }));
                ChatMessage::Tool {
                    tool_call_id: returned.tool_call_id.clone(),
                    name: returned.name.clone(),
                    text: returned.packed.clone(),
                    images: images.cloned().collect(),
                    is_error: returned.status == ToolStatus::Error,
                }
            })),
        }
        last_step = None;
    }
    chat
}

/// Says of images in results that they are not there, for a model that sees none.
pub(crate) fn leave_out_images(messages: &mut [ChatMessage]) {
    for message in messages {
        if let ChatMessage::Tool { text, images, .. } = message
            && !images.is_empty()
        {
            images.clear();
            text.push_str(IMAGE_LEFT_OUT);
        }
    }
}

#[cfg(test)]
mod tests {
    use bulkhead_domain::{
        ToolCall,
        id::{AgentId, StepId},
    };

    use super::*;

    #[test]
    fn an_answer_that_was_stored_in_two_is_sent_as_one() {
        let agent = AgentId::random();
        let step = Some(StepId::random());
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            name: "roll".to_owned(),
            arguments: "{}".to_owned(),
            signature: None,
        };
        let mut text = Message::text(agent, Role::Assistant, "Let me look.");
        text.step_id = step;
        text.tool_calls = vec![call("a")];
        let mut request = Message::new(agent, Role::Approval);
        request.step_id = step;
        request.tool_calls = vec![call("b")];
        let mut response = Message::new(agent, Role::Approval);
        response.approvals = vec![bulkhead_domain::Approval::Approval {
            tool_call_id: "b".to_owned(),
            approve: true,
            reason: None,
        }];
        let chat = chat_messages(&[text, request, response]);
        let [
            ChatMessage::Assistant {
                content,
                tool_calls,
                ..
            },
        ] = chat.as_slice()
        else {
            panic!("{chat:?}")
        };
        assert_eq!((content.len(), tool_calls.len()), (1, 2));
    }

    #[test]
    fn a_model_that_sees_no_images_reads_that_there_is_one() {
        let mut message = Message::new(AgentId::random(), Role::Tool);
        let image = serde_json::json!({"type": "image", "source":
            {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
        let parts = vec![
            Part::text("a chart"),
            serde_json::from_value(image).unwrap(),
        ];
        for parts in [Some(parts), None] {
            message.tool_returns.push(bulkhead_domain::ToolReturn {
                tool_call_id: "a".to_owned(),
                name: "draw".to_owned(),
                status: ToolStatus::Success,
                text: "a chart".to_owned(),
                packed: "a chart".to_owned(),
                stdout: None,
                stderr: None,
                parts,
                receipt_id: None,
            });
        }
        let mut chat = chat_messages(&[message]);
        leave_out_images(&mut chat);
        let read = chat.iter().map(|message| match message {
            ChatMessage::Tool { text, images, .. } => (text.as_str(), images.len()),
            other => panic!("{other:?}"),
        });
        let expected = [(&*format!("a chart{IMAGE_LEFT_OUT}"), 0), ("a chart", 0)];
        assert_eq!(read.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn answers_of_different_steps_stay_apart() {
        let agent = AgentId::random();
        let mut messages = Vec::new();
        for _ in 0..2 {
            let mut message = Message::text(agent, Role::Assistant, "hello");
            message.step_id = Some(StepId::random());
            messages.push(message);
        }
        assert_eq!(chat_messages(&messages).len(), 2);
    }
}
