//! Requests and answers in streams: by message, in pieces, and in the background.

use serde_json::{Value, json};

use super::{answers, approve, careful, deny};
use crate::{
    both::on_both,
    consistency::agrees,
    live::Live,
    messages::{Event, outline, say, stop, text},
    support::TestServer,
};

/// The ways of a stream.
fn ways() -> [Value; 4] {
    let way = |tokens: bool, background: bool| json!({ "stream_tokens": tokens, "background": background });
    [
        way(false, false),
        way(true, false),
        way(false, true),
        way(true, true),
    ]
}

async fn streamed(server: &TestServer, agent: &str, mut body: Value, way: &Value) -> Vec<Event> {
    for (option, value) in way.as_object().unwrap() {
        body[option] = value.clone();
    }
    Live::open(server, agent, &body).await.end().await
}

/// The waiting call of a stream's request for approval, put together from its pieces.
fn waiting(events: &[Event]) -> (String, String) {
    let pieces = events.iter().map(|(_, data)| data);
    let mut pieces = pieces.filter(|data| data["message_type"] == "approval_request_message");
    let first = &pieces.next().unwrap()["tool_call"];
    let mut arguments = first["arguments"].as_str().unwrap_or_default().to_owned();
    for piece in pieces {
        assert_eq!(piece["tool_call"]["tool_call_id"], first["tool_call_id"]);
        arguments.push_str(text(&piece["tool_call"]["arguments"]));
    }
    assert_eq!(first["name"], "secret");
    (text(&first["tool_call_id"]).to_owned(), arguments)
}

on_both! {
    async fn a_request_ends_its_stream_and_the_answers_stream_begins_with_the_result(server) {
        let agent = careful(&server).await;
        let input = "say Look:\ncall secret with {\"a\":\"x\"}\nthen\nsay Done.";
        for way in ways() {
            let asked = streamed(&server, &agent, json!({ "input": input }), &way).await;
            let shown = outline(&asked);
            assert_eq!(shown[..2], ["ping", "assistant_message \"Look:\""], "{way}");
            let end = ["stop_reason \"requires_approval\"", "usage_statistics", "[DONE]"];
            assert_eq!(shown[shown.len() - 3..], end, "{way}");
            agrees(&server, &agent).await;
            let (call, arguments) = waiting(&asked);
            assert_eq!(arguments, "{\"a\":\"x\"}", "{way}");
            let answered = streamed(&server, &agent, answers(&[approve(&call)]), &way).await;
            assert_eq!(
                outline(&answered),
                [
                    "ping",
                    "tool_return_message \"the secret x\"",
                    "assistant_message \"Done.\"",
                    "stop_reason \"end_turn\"",
                    "usage_statistics",
                    "[DONE]",
                ],
                "{way}"
            );
            assert_eq!(answered[1].1["tool_call_id"], call);
            agrees(&server, &agent).await;
        }
    }

    async fn a_denial_is_streamed_like_a_result(server) {
        let agent = careful(&server).await;
        for way in ways() {
            let input = json!({ "input": "call secret\nthen\nsay Done." });
            let (call, _) = waiting(&streamed(&server, &agent, input, &way).await);
            let answered = streamed(&server, &agent, answers(&[deny(&call, "no")]), &way).await;
            assert_eq!(answered[1].1["status"], "error", "{way}");
            assert_eq!(outline(&answered).last().unwrap(), "[DONE]", "{way}");
            agrees(&server, &agent).await;
            assert_eq!(stop(&say(&server, &agent, "say more").await), "end_turn");
        }
    }
}
