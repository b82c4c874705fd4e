//! Tools that the client runs: those it brings, and the server's that it runs itself.

use serde_json::{Value, json};

use super::{answer, ask, careful, computed, denied, deny, ran, request, results, taken, waiting};
use crate::{
    both::on_both,
    clients::made,
    consistency::{Snapshot, agrees, history},
    messages::{kinds, say, send, stop, text},
    vendor::{KEY, MODEL, Vendor},
};

/// A body that brings a tool of this name.
fn brings(name: &str, input: &str) -> Value {
    let parameters = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    json!({
        "input": input,
        "client_tools": [{ "name": name, "description": "Mine.", "parameters": parameters }],
    })
}

on_both! {
    async fn a_call_of_a_tool_of_the_client_waits_for_its_result(server) {
        let agent = careful(&server).await;
        let input = "call mine with {\"x\": 1}\nthen\nsay Done.";
        let asked = taken(send(&server, &agent, brings("mine", input)).await);
        assert_eq!(stop(&asked), "requires_approval");
        assert_eq!(request(&asked)["tool_call"]["arguments"], "{\"x\": 1}");
        agrees(&server, &agent).await;
        let call = waiting(&asked)[0];
        let returned = json!({
            "type": "tool_return", "tool_returns": [computed(call, "forty")],
        });
        let answer = taken(send(&server, &agent, json!({ "messages": [returned] })).await);
        assert_eq!(results(&answer), [(call, "success", "forty")]);
        assert_eq!(answer["messages"][0]["stdout"], Value::Null);
        assert_eq!(stop(&answer), "end_turn");
        agrees(&server, &agent).await;
    }

    async fn a_tool_of_the_client_hides_the_servers_of_its_name_in_one_request(server) {
        let agent = careful(&server).await;
        let input = "call dice\nthen\nsay Done.";
        let asked = taken(send(&server, &agent, brings("dice", input)).await);
        assert_eq!(stop(&asked), "requires_approval");
        let answer = answer(&server, &agent, &[computed(waiting(&asked)[0], "six")]).await;
        assert_eq!(results(&answer)[0].2, "six");
        assert_eq!(ran(&server, "dice").await, 0);
        let usual = say(&server, &agent, input).await;
        let expected = ["tool_call_message", "tool_return_message", "assistant_message"];
        assert_eq!(kinds(&usual["messages"]), expected);
        assert_eq!(ran(&server, "dice").await, 1);
        agrees(&server, &agent).await;
    }

    async fn a_tool_of_the_client_may_be_denied(server) {
        let agent = careful(&server).await;
        let input = "call mine\ncall dice\nthen\nsay Done.";
        let asked = taken(send(&server, &agent, brings("mine", input)).await);
        let call = waiting(&asked)[0];
        let answer = answer(&server, &agent, &[deny(call, "not here")]).await;
        let returned = results(&answer);
        assert_eq!(returned[0], (call, "error", &*denied("not here")));
        assert_eq!((returned[1].1, returned[1].2), ("success", "four"));
        agrees(&server, &agent).await;
    }

    async fn an_image_in_a_result_of_the_client_is_shown_to_the_model(server) {
        let vendor = Vendor::start().await;
        let body = json!({
            "name": "mine", "provider_type": "openai", "api_key": KEY, "base_url": vendor.base_url,
        });
        made(&server, "/v1/providers/", &body).await;
        let agent = careful(&server).await;
        let asked = taken(send(&server, &agent, brings("mine", "call mine")).await);
        let call = waiting(&asked)[0];
        let with = |data: &str| {
            let source = json!({ "type": "base64", "media_type": "image/png", "data": data });
            let parts = json!([
                { "type": "text", "text": "Look:" }, { "type": "image", "source": source },
            ]);
            let returned = json!({
                "type": "tool", "tool_call_id": call, "tool_return": parts, "status": "success",
            });
            json!({
                "messages": [{ "type": "tool_return", "tool_returns": [returned] }],
                "override_model": format!("mine/{MODEL}"),
            })
        };
        // What no model could read is refused, and the request stays open.
        let before = Snapshot::of(&server, &agent).await;
        let refused = send(&server, &agent, with("no base64!")).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        before.is_now(&server).await;
        assert!(vendor.asked().is_empty());

        let answer = taken(send(&server, &agent, with("iVBORw0KGgo=")).await);
        let returned = &answer["messages"][0]["tool_returns"][0]["tool_return"];
        assert_eq!(returned[1]["source"]["data"], "iVBORw0KGgo=", "{answer}");
        let seen = vendor.asked().pop().unwrap();
        let seen = seen["messages"].as_array().unwrap();
        let result = seen.iter().find(|message| message["role"] == "tool").unwrap();
        assert!(text(&result["content"]).contains("Look:"), "{result}");
        let images = seen.iter().filter_map(|message| message["content"].as_array());
        let images: Vec<_> = images
            .flatten()
            .filter_map(|part| part["image_url"]["url"].as_str())
            .collect();
        assert_eq!(images, ["data:image/png;base64,iVBORw0KGgo="], "{seen:?}");
        agrees(&server, &agent).await;
    }

    async fn a_result_of_the_client_is_kept_as_it_was_sent(server) {
        let agent = careful(&server).await;
        let asked = ask(&server, &agent, "call secret\ncall secret\nthen\nsay Done.").await;
        let calls = waiting(&asked);
        let failed = json!({
            "type": "tool", "tool_call_id": calls[0], "tool_return": "no such file",
            "status": "error", "stdout": ["looking"], "stderr": ["not found"],
        });
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
        let rich = json!({
            "type": "tool", "tool_call_id": calls[1], "tool_return": parts, "status": "success",
        });
        let answer = answer(&server, &agent, &[failed, rich]).await;
        let returns = &answer["messages"][0]["tool_returns"];
        let expected = json!(["error", "no such file", ["looking"], ["not found"]]);
        let first = &returns[0];
        let (result, output) = (&first["tool_return"], [&first["stdout"], &first["stderr"]]);
        assert_eq!(json!([first["status"], result, output[0], output[1]]), expected);
        assert_eq!(returns[1]["status"], "success");
        assert_eq!(crate::clients::each(&returns[1]["tool_return"], "text"), ["a", "b"]);
        // Neither ran here.
        assert_eq!(ran(&server, "secret").await, 0);
        let stored = history(&server, &agent).await;
        let response = &stored[3];
        assert_eq!(response["message_type"], "approval_response_message");
        let kept = &response["approvals"][0];
        assert_eq!(
            (text(&kept["type"]), text(&kept["tool_return"]), text(&kept["status"])),
            ("tool", "no such file", "error")
        );
        agrees(&server, &agent).await;
    }
}
