//! Groups as clients make, list and change them.

use serde_json::{Value, json};

use crate::{
    both::on_both,
    clients::{NOBODY, read, text},
    messages::{agent, detail},
    support::TestServer,
};

async fn group(server: &TestServer, body: Value) -> Value {
    let made = server.post("/v1/groups/", &body).await;
    assert_eq!(made.status, 200, "{made:?}");
    made.body
}

fn ids(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list}"));
    list.iter().map(|entry| text(&entry["id"])).collect()
}

on_both! {
    async fn a_group_has_what_its_body_says_and_what_its_kind_has(server) {
        let (a, b) = (agent(&server, json!({})).await, agent(&server, json!({})).await);
        let block = server.post("/v1/blocks/", &json!({ "label": "team", "value": "" })).await.body;
        let nothing = [
            "manager_agent_id", "termination_token", "max_turns", "sleeptime_agent_frequency",
            "turns_counter", "last_processed_message_id", "max_message_buffer_length",
            "min_message_buffer_length", "hidden", "project_id", "template_id", "base_template_id",
            "deployment_id",
        ];
        for (config, expected) in [
            (Value::Null, json!({ "manager_type": "round_robin" })),
            (json!({ "manager_type": "round_robin", "max_turns": 3 }),
                json!({ "manager_type": "round_robin", "max_turns": 3 })),
            (json!({ "manager_type": "supervisor", "manager_agent_id": a }),
                json!({ "manager_type": "supervisor", "manager_agent_id": a })),
            (json!({ "manager_type": "dynamic", "manager_agent_id": a }),
                json!({ "manager_type": "dynamic", "manager_agent_id": a,
                    "termination_token": "DONE!" })),
            (json!({ "manager_type": "sleeptime", "manager_agent_id": a,
                    "sleeptime_agent_frequency": 4 }),
                json!({ "manager_type": "sleeptime", "manager_agent_id": a,
                    "sleeptime_agent_frequency": 4, "turns_counter": -1 })),
            (json!({ "manager_type": "sleeptime", "manager_agent_id": a }),
                json!({ "manager_type": "sleeptime", "manager_agent_id": a })),
            (json!({ "manager_type": "voice_sleeptime", "manager_agent_id": a,
                    "max_message_buffer_length": 9, "min_message_buffer_length": 2 }),
                json!({ "manager_type": "voice_sleeptime", "manager_agent_id": a,
                    "max_message_buffer_length": 9, "min_message_buffer_length": 2 })),
        ] {
            let mut body = json!({ "agent_ids": [b, a, b], "description": "They talk",
                "shared_block_ids": [block["id"]] });
            if !config.is_null() {
                body["manager_config"] = config;
            }
            let made = group(&server, body).await;
            for field in nothing {
                assert_eq!(made.get(field), Some(&expected[field]), "{field} of {made}");
            }
            assert_eq!(made["manager_type"], expected["manager_type"]);
            assert_eq!(made["agent_ids"], json!([b, a]));
            assert_eq!(made["shared_block_ids"], json!([block["id"]]));
            assert_eq!(read(&server, &format!("/v1/groups/{}", text(&made["id"]))).await, made);
        }
    }

    async fn the_messages_of_a_group_are_those_of_whoever_leads_it_or_of_all(server) {
        let (a, b) = (agent(&server, json!({})).await, agent(&server, json!({})).await);
        let body = |config: Value| json!({ "agent_ids": [b], "description": "", "manager_config": config });
        let led = json!({ "manager_type": "supervisor", "manager_agent_id": a });
        let led = text(&group(&server, body(led)).await["id"]).to_owned();
        let free = json!({ "manager_type": "round_robin" });
        let free = text(&group(&server, body(free)).await["id"]).to_owned();
        for (agent, group) in [(&a, Some(&led)), (&b, Some(&led)), (&a, Some(&free)), (&b, Some(&free)), (&b, None)] {
            let named = |group: &String| format!("to {group}");
            let content = group.map_or("to nobody".to_owned(), named);
            let message = json!({ "role": "user", "content": content, "group_id": group });
            let path = format!("/v1/agents/{agent}/messages");
            let sent = server.post(&path, &json!({ "messages": [message] })).await;
            assert_eq!(sent.status, 200, "{sent:?}");
        }
        for (group, count) in [(&led, 1), (&free, 2)] {
            let path = format!("/v1/groups/{group}/messages");
            let listed = read(&server, &path).await;
            let listed = listed.as_array().unwrap();
            let expected = format!("to {group}");
            assert!(listed.iter().all(|message| message["content"] == expected), "{listed:?}");
            assert_eq!(listed.len(), count);
            let last = text(&listed[count - 1]["id"]);
            let newest = read(&server, &format!("{path}?limit=1")).await;
            assert_eq!(ids(&newest), [last]);
            assert_eq!(read(&server, &format!("{path}?after={last}")).await, json!([]));
            let edited = server.patch(&format!("{path}/{last}"), &json!({ "content": "" })).await;
            let refused = "Message editing is no longer supported. Send a new message instead.";
            assert_eq!(detail(&edited), (405, refused));
        }
        let unknown = server.get(&format!("/v1/groups/group-{NOBODY}/messages")).await;
        assert_eq!(unknown.status, 404, "{unknown:?}");
    }

    async fn a_block_of_a_group_is_a_block_of_all_its_agents(server) {
        let (a, b) = (agent(&server, json!({})).await, agent(&server, json!({})).await);
        let body = json!({ "agent_ids": [b], "description": "",
            "manager_config": { "manager_type": "supervisor", "manager_agent_id": a } });
        let group = text(&group(&server, body).await["id"]).to_owned();
        let mut blocks = Vec::new();
        for _ in 0..2 {
            let block = server.post("/v1/blocks/", &json!({ "label": "team", "value": "" })).await;
            blocks.push(text(&block.body["id"]).to_owned());
        }
        let change = async |what: &str, block: &str| {
            let path = format!("/v1/groups/{group}/blocks/{what}/{block}");
            server.patch(&path, &Value::Null).await
        };
        let had = async || {
            let shared = read(&server, &format!("/v1/groups/{group}")).await["shared_block_ids"].clone();
            let mut had = vec![shared.as_array().unwrap().len()];
            for agent in [&a, &b] {
                let blocks = read(&server, &format!("/v1/agents/{agent}/core-memory/blocks")).await;
                had.push(blocks.as_array().unwrap().len());
            }
            had
        };
        for _ in 0..2 {
            let attached = change("attach", &blocks[0]).await;
            assert_eq!((attached.status.as_u16(), attached.text.as_str()), (200, "null"));
            assert_eq!(had().await, [1, 1, 1]);
        }
        // The agents have a block with this label, and none of it was done.
        assert_eq!(change("attach", &blocks[1]).await.status, 409);
        assert_eq!(had().await, [1, 1, 1]);
        let detached = change("detach", &blocks[0]).await;
        assert_eq!((detached.status.as_u16(), detached.text.as_str()), (200, "null"));
        assert_eq!(had().await, [0, 0, 0]);
        // What an agent has by itself it keeps.
        let own = format!("/v1/agents/{a}/core-memory/blocks/attach/{}", blocks[0]);
        assert_eq!(server.patch(&own, &Value::Null).await.status, 200);
        assert_eq!(change("detach", &blocks[0]).await.status, 404);
        assert_eq!(had().await, [0, 1, 0]);
        let nobody = format!("block-{NOBODY}");
        assert_eq!(change("attach", &nobody).await.status, 404);
        let elsewhere = format!("/v1/groups/group-{NOBODY}/blocks/attach/{}", blocks[0]);
        assert_eq!(server.patch(&elsewhere, &Value::Null).await.status, 404);
    }

    async fn groups_are_listed_counted_and_deleted(server) {
        let (a, b) = (agent(&server, json!({})).await, agent(&server, json!({})).await);
        let made = async |members: Value, more: Value| {
            let mut body = json!({ "agent_ids": members, "description": "" });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            text(&group(&server, body).await["id"]).to_owned()
        };
        let first = made(json!([a]), json!({ "project_id": "p" })).await;
        let led = json!({ "manager_type": "sleeptime", "manager_agent_id": a });
        let second = made(json!([b]), json!({ "manager_config": led })).await;
        let third = made(json!([b]), json!({})).await;
        let hidden = made(json!([a]), json!({ "hidden": true })).await;
        for (path, expected) in [
            ("/v1/groups/".to_owned(), vec![&first, &second, &third]),
            ("/v1/groups".to_owned(), vec![&first, &second, &third]),
            ("/v1/groups/?order=desc&limit=2".to_owned(), vec![&third, &second]),
            (format!("/v1/groups/?after={first}"), vec![&second, &third]),
            (format!("/v1/groups/?before={second}"), vec![&first]),
            ("/v1/groups/?manager_type=sleeptime".to_owned(), vec![&second]),
            ("/v1/groups/?manager_type=swarm".to_owned(), vec![]),
            ("/v1/groups/?project_id=p".to_owned(), vec![&first]),
            (format!("/v1/agents/{a}/groups"), vec![&hidden, &second, &first]),
            (format!("/v1/agents/{a}/groups?manager_type=round_robin&order=asc"),
                vec![&first, &hidden]),
            (format!("/v1/agents/{b}/groups"), vec![&third, &second]),
        ] {
            assert_eq!(ids(&read(&server, &path).await), expected, "{path}");
        }
        assert_eq!(read(&server, "/v1/groups/count").await, 3);
        let deleted = server.delete(&format!("/v1/groups/{second}")).await;
        let message = format!("Group id={second} successfully deleted");
        assert_eq!((deleted.status.as_u16(), &deleted.body), (200, &json!({ "message": message })));
        assert_eq!(server.delete(&format!("/v1/groups/{second}")).await.status, 404);
        assert_eq!(server.get(&format!("/v1/agents/{a}")).await.status, 200);
        assert_eq!(read(&server, "/v1/groups/count").await, 2);
    }

    async fn a_group_changes_what_a_body_says_of_it(server) {
        let (a, b) = (agent(&server, json!({})).await, agent(&server, json!({})).await);
        let made = group(&server, json!({ "agent_ids": [a], "description": "one",
            "manager_config": { "manager_type": "sleeptime", "manager_agent_id": a } })).await;
        let path = format!("/v1/groups/{}", text(&made["id"]));
        let config = json!({ "manager_type": "sleeptime", "sleeptime_agent_frequency": 2 });
        let changed = server.patch(&path, &json!({ "manager_config": config })).await.body;
        let mut expected = made.clone();
        expected["sleeptime_agent_frequency"] = json!(2);
        expected["turns_counter"] = json!(-1);
        assert_eq!(changed, expected);
        let body = json!({ "description": "two", "agent_ids": [b, a], "project_id": "p",
            "manager_config": { "manager_type": "sleeptime", "manager_agent_id": b } });
        let changed = server.patch(&path, &body).await.body;
        expected["description"] = json!("two");
        expected["agent_ids"] = json!([b, a]);
        expected["project_id"] = json!("p");
        expected["manager_agent_id"] = json!(b);
        assert_eq!(changed, expected, "what is left out stays");
        let config = json!({ "manager_type": "sleeptime", "sleeptime_agent_frequency": null });
        let changed = server.patch(&path, &json!({ "manager_config": config })).await.body;
        assert_eq!(changed["sleeptime_agent_frequency"], Value::Null);
        assert_eq!(read(&server, &path).await, changed);
    }
}

#[tokio::test]
async fn what_no_group_can_be_is_refused() {
    let server = TestServer::start().await;
    let a = agent(&server, json!({})).await;
    let nobody = format!("agent-{NOBODY}");
    let of =
        |config: Value| json!({ "agent_ids": [a], "description": "", "manager_config": config });
    for (body, expected) in [
        (json!({ "agent_ids": [a] }), "missing"),
        (json!({ "agent_ids": "x", "description": "" }), "list_type"),
        (
            json!({ "agent_ids": ["agent-1"], "description": "" }),
            "string_too_short",
        ),
        (of(json!({ "max_turns": 1 })), "union_tag_not_found"),
        (of(json!({ "manager_type": "swarm" })), "union_tag_invalid"),
        (of(json!({ "manager_type": "sleeptime" })), "missing"),
        (
            of(json!({ "manager_type": "round_robin", "max_turns": "x" })),
            "int_parsing",
        ),
    ] {
        let refused = server.post("/v1/groups/", &body).await;
        let (status, text) = detail(&refused);
        let kind = format!("'type': '{expected}'");
        assert!(status == 422 && text.contains(&kind), "{body}: {text}");
    }
    for config in [
        json!({ "manager_type": "round_robin", "max_turns": 0 }),
        json!({ "manager_type": "sleeptime", "manager_agent_id": a, "sleeptime_agent_frequency": 0 }),
        json!({ "manager_type": "voice_sleeptime", "manager_agent_id": a,
            "min_message_buffer_length": -1 }),
    ] {
        let refused = server.post("/v1/groups/", &of(config)).await;
        let (status, text) = detail(&refused);
        assert!(
            status == 400 && text.ends_with("must be at least 1"),
            "{text}"
        );
    }
    let unknown = json!({ "agent_ids": [nobody], "description": "" });
    let refused = server.post("/v1/groups/", &unknown).await;
    let (status, text) = detail(&refused);
    assert!(status == 409 && text.contains(&nobody), "{text}");
    assert_eq!(read(&server, "/v1/groups/count").await, 0);

    let made = group(&server, json!({ "agent_ids": [a], "description": "" })).await;
    let path = format!("/v1/groups/{}", super::text(&made["id"]));
    let config = json!({ "manager_type": "sleeptime", "manager_agent_id": a });
    let refused = server
        .patch(&path, &json!({ "manager_config": config }))
        .await;
    let (status, text) = detail(&refused);
    assert!(status == 400 && text.contains("round_robin"), "{text}");
    let config = json!({ "manager_type": "round_robin", "max_turns": -3 });
    assert_eq!(
        server
            .patch(&path, &json!({ "manager_config": config }))
            .await
            .status,
        400
    );
    assert_eq!(server.get(&path).await.body, made);
    for path in [
        format!("/v1/groups/group-{NOBODY}"),
        format!("/v1/groups/?after=group-{NOBODY}"),
        format!("/v1/agents/agent-{NOBODY}/groups"),
    ] {
        assert_eq!(server.get(&path).await.status, 404, "{path}");
    }
    for path in [
        "/v1/groups/group-1",
        "/v1/groups/?manager_type=x",
        "/v1/groups/?limit=x",
    ] {
        assert_eq!(server.get(path).await.status, 422, "{path}");
    }
}
