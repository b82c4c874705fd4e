//! Files and forms that are refused, in which words.

use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use super::{counts, detail, document, form, import, imported, read, send, text};
use crate::support::{Answer, TestServer};

const LEGACY: &str = "Legacy AgentSchema format is deprecated. Please use the new AgentFileSchema format with 'agents' field.";

/// The refusal of a document that was changed.
async fn refused(server: &TestServer, change: impl FnOnce(&mut Value)) -> String {
    let mut document = document(json!({
        "messages": [{ "id": "message-0", "role": "user", "content": "hi" }],
        "in_context_message_ids": ["message-0"],
    }));
    change(&mut document);
    let answer = import(server, &document, &[]).await;
    let (status, detail) = detail(&answer);
    assert_eq!(status, 400, "{detail}");
    detail.to_owned()
}

#[tokio::test]
async fn what_is_no_document_is_told_in_the_words_of_the_contract() {
    let server = TestServer::start().await;
    for (bytes, expected) in [
        ("", "Corrupted agent file format."),
        ("{\"agents\": [", "Corrupted agent file format."),
        ("\u{0}\u{1}", "Corrupted agent file format."),
        ("{}", LEGACY),
        (
            "{\"agent_type\": \"memgpt_agent\", \"core_memory\": []}",
            LEGACY,
        ),
        ("[]", LEGACY),
    ] {
        let answer = send(&server, form(Some(bytes.as_bytes()), &[])).await;
        assert_eq!(detail(&answer), (400, expected), "{bytes}");
    }
    let missing = refused(&server, |document| {
        document.as_object_mut().unwrap().remove("mcp_servers");
        document["agents"][0]["messages"][0]["content"] = json!(7);
    });
    let missing = missing.await;
    assert!(missing.contains("mcp_servers: Field required"), "{missing}");
    assert!(missing.contains("agents.0.messages.0.content"), "{missing}");
    assert_eq!(counts(&server).await[0], 0);
}

#[tokio::test]
async fn ids_that_contradict_each_other_are_listed_all_at_once() {
    let server = TestServer::start().await;
    let text = refused(&server, |document| {
        document["tools"] = json!([
            { "id": "tool-x", "name": "a" }, { "id": "t-1", "name": "b" },
        ]);
        document["blocks"] = json!([
            { "id": "block-0", "label": "a", "value": "" },
            { "id": "block-0", "label": "b", "value": "" },
        ]);
        document["files"] = json!([{ "id": "file-0", "source_id": "source-9" }]);
        document["groups"] = json!([{
            "id": "group-0", "agent_ids": ["agent-7"], "description": "",
            "manager_config": { "manager_type": "supervisor", "manager_agent_id": "agent-8" },
            "shared_block_ids": ["block-9"],
        }]);
        let agent = &mut document["agents"][0];
        agent["tool_ids"] = json!(["tool-9"]);
        agent["block_ids"] = json!(["block-8"]);
        agent["source_ids"] = json!(["source-8"]);
        agent["in_context_message_ids"] = json!(["message-0", "message-0", "message-5"]);
        agent["messages"][0]["agent_id"] = json!("agent-6");
        agent["files_agents"] = json!([{
            "id": "file_agent-0", "agent_id": "agent-0", "file_id": "file-0",
            "source_id": "source-9", "file_name": "a",
        }]);
    });
    let text = text.await;
    for expected in [
        "Schema validation failed: ",
        "Invalid ID format: tool-x should have integer suffix",
        "Invalid ID format: t-1 should start with 'tool-'",
        "Duplicate block ID found: block-0",
        "File file-0 references non-existent source source-9",
        "Group group-0 references non-existent agent agent-7",
        "Group group-0 references non-existent agent agent-8",
        "Group group-0 references non-existent block block-9",
        "Agent agent-0 references non-existent tool tool-9",
        "Agent agent-0 references non-existent block block-8",
        "Agent agent-0 references non-existent source source-8",
        "Agent agent-0 references non-existent message message-5",
        "Agent agent-0 has message message-0 in context twice",
        "Message message-0 references non-existent agent agent-6",
        "File-agent relationship file_agent-0 references non-existent source source-9",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[tokio::test]
async fn what_this_server_can_not_hold_is_named() {
    let server = TestServer::start().await;
    let text = refused(&server, |document| {
        document["mcp_servers"] = json!([
            { "id": "mcp_server-0", "server_type": "sse", "server_name": "far" },
        ]);
    });
    assert_eq!(
        text.await,
        "This server can't hold everything that is in the file, and imported nothing: MCP servers \
         that are not registered here \
         at that address: far. Take it out of the file to import the rest."
    );
    assert_eq!(counts(&server).await[0], 0);
}

#[tokio::test]
async fn an_agent_that_can_not_be_is_refused_as_a_new_one() {
    let server = TestServer::start().await;
    let change = async |field: &str, value: Value| {
        let document = document(json!({ field: value }));
        let answer = import(&server, &document, &[]).await;
        let (status, detail) = detail(&answer);
        (status, detail.to_owned())
    };
    let (status, text) = change("timezone", json!("Nowhere/Here")).await;
    assert_eq!(status, 422, "{text}");
    let (status, text) = change("name", json!("a/b")).await;
    assert_eq!(status, 422, "{text}");
    let (status, text) = change("max_files_open", json!(5_000)).await;
    assert_eq!(status, 400, "{text}");
    let (_, text) = change("model", json!("openai/none")).await;
    assert!(text.contains("openai/none"), "{text}");
    let (_, text) = change("identity_ids", json!(["identity-1"])).await;
    assert!(text.contains("identity-1"), "{text}");
    let (_, text) = change("tools", json!(["nobody"])).await;
    assert_eq!(text, "Tools not found by name: {'nobody'}");
    let blocks = json!([{ "label": "a", "value": "" }, { "label": "a", "value": "" }]);
    let (_, text) = change("memory_blocks", blocks).await;
    assert_eq!(
        text,
        "Invalid agent file: agent-0 has two blocks labelled 'a'"
    );
    let image = json!({ "type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": "%",
    } });
    let message = json!({ "id": "message-0", "role": "user", "content": [image] });
    let (_, text) = change("messages", json!([message])).await;
    assert!(text.starts_with("Invalid agent file: message-0: an image is not base64"));
    assert_eq!(counts(&server).await, [json!(0), json!(0), json!(0)]);
}

#[tokio::test]
async fn what_is_larger_than_the_store_takes_is_refused_with_its_place() {
    let server = TestServer::start().await;
    let large = "x".repeat((1 << 20) + 1);
    let text = refused(&server, |document| {
        document["blocks"] = json!([{ "id": "block-0", "label": "a", "value": large }]);
    });
    let expected = "Invalid agent file: block-0: the block's value is over its limit of 1048576";
    assert_eq!(text.await, expected);
    for (field, value, expected) in [
        ("system", json!(large), "the agent is larger than 1 MiB"),
        (
            "name",
            json!("x".repeat(600)),
            "its name has more than 512 bytes",
        ),
    ] {
        let text = refused(&server, |document| document["agents"][0][field] = value).await;
        assert!(text.starts_with("Invalid agent file: agent-0: "), "{text}");
        assert!(text.contains(expected), "{text}");
    }
    let blocks = |count: usize, size: usize| -> Value {
        let value = "x".repeat(size);
        let block = |at: usize| json!({ "label": format!("b{at}"), "value": value });
        (0..count).map(block).collect()
    };
    for (blocks, expected) in [
        (blocks(257, 0), "it has more than 256 blocks"),
        // Each of its fields fits, and a file as well.
        (blocks(7, 1 << 20), "more than the 8388608 of a message"),
    ] {
        let text = refused(&server, |document| {
            let agent = &mut document["agents"][0];
            agent["memory_blocks"] = blocks;
            agent["block_ids"] = json!(["block-0", "block-1"]);
            let shared = ["0", "1"].map(|at| {
                let id = format!("block-{at}");
                json!({ "id": id, "label": format!("s{at}"), "value": "y".repeat(1 << 20) })
            });
            document["blocks"] = json!(shared);
        });
        let text = text.await;
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(counts(&server).await, [json!(0), json!(0), json!(0)]);
}

#[tokio::test]
async fn a_call_without_a_result_is_refused_where_the_model_sees_it() {
    let server = TestServer::start().await;
    let call = |id: &str| {
        json!([{ "id": id, "type": "function",
            "function": { "name": "roll", "arguments": "{}" } }])
    };
    let message = |at: usize, role: &str, calls: Value| {
        let id = format!("message-{at}");
        json!({ "id": id, "role": role, "content": "", "tool_calls": calls })
    };
    let messages = json!([
        message(0, "assistant", call("call_0")),
        message(1, "assistant", call("call_1")),
        message(2, "approval", call("call_2")),
        message(3, "user", Value::Null),
        message(4, "approval", call("call_4")),
    ]);
    let text = refused(&server, |document| {
        let agent = &mut document["agents"][0];
        agent["messages"] = messages.clone();
        agent["in_context_message_ids"] =
            json!(["message-1", "message-2", "message-3", "message-4"]);
    });
    assert_eq!(
        text.await,
        "Invalid agent file: message-1: the call call_1 has no result in context; message-2: the \
         call call_2 has no result in context"
    );
    assert_eq!(counts(&server).await[0], 0);
    let waiting = document(json!({
        "messages": messages, "in_context_message_ids": ["message-3", "message-4"],
    }));
    let made = imported(&server, &waiting, &[]).await;
    assert_eq!(made["message_ids"].as_array().unwrap().len(), 3);
    let pending = &made["pending_approval"]["tool_call"];
    assert_eq!(pending["tool_call_id"], "call_4", "{made}");
}

#[tokio::test]
async fn a_form_is_refused_for_what_is_wrong_in_it() {
    let server = TestServer::start().await;
    let empty = document(json!({})).to_string();
    let file = Some(empty.as_bytes());
    let missing = send(&server, form(None, &[("name", "a")])).await;
    let (status, text) = detail(&missing);
    assert_eq!(status, 422);
    assert!(
        text.contains("'type': 'missing', 'loc': ('body', 'file')"),
        "{text}"
    );
    let boolean = send(&server, form(file, &[("append_copy_suffix", "maybe")])).await;
    let (status, text) = detail(&boolean);
    assert_eq!(status, 422);
    assert!(text.contains("'type': 'bool_parsing', 'loc': ('body', 'append_copy_suffix')"));
    for secrets in ["[]", "x", "\"a\""] {
        let refused = send(&server, form(file, &[("secrets", secrets)])).await;
        assert_eq!(
            detail(&refused),
            (400, "secrets must be a valid JSON string")
        );
    }
    let long = "x".repeat((64 << 10) + 1);
    let long = send(&server, form(file, &[("name", &long)])).await;
    let expected = "The form can't be read: the field name has more than 65536 bytes";
    assert_eq!(detail(&long), (400, expected));
    let json = server.post("/v1/agents/import", &json!({})).await;
    assert_eq!(json.status, 415, "{json:?}");
    for (media_type, body) in [
        ("multipart/form-data", &b"--x--"[..]),
        ("multipart/form-data; boundary=x", b"nothing of that kind"),
        (
            "multipart/form-data; boundary=x",
            b"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nab",
        ),
    ] {
        let request = server.request(Method::POST, "/v1/agents/import");
        let request = request.header("content-type", media_type).body(body);
        let refused = Answer::read(request.send().await.unwrap()).await;
        assert_eq!(detail(&refused).0, 400, "{refused:?}");
    }
    let many: Vec<_> = (0..100).map(|_| ("name", "a")).collect();
    assert_eq!(detail(&send(&server, form(file, &many)).await).0, 400);
    let made = imported(
        &server,
        &document(json!({})),
        &[("name", ""), ("unknown", "x")],
    )
    .await;
    assert_eq!(made["name"], "Ada_copy");
}

#[tokio::test]
async fn large_files_are_answered_soon_and_too_large_ones_by_their_size() {
    let server = TestServer::start().await;
    let nonsense = [
        vec![0xab; 50 << 20],
        b"[".repeat(50 << 20),
        b"[1,".repeat(17 << 20),
        [b"{\"agents\": [".to_vec(), b"[],".repeat(17 << 20)].concat(),
        [
            b"{\"agents\": [".to_vec(),
            b"{},".repeat(17 << 20),
            b"{}]}".to_vec(),
        ]
        .concat(),
        [
            b"{\"agents\": [{\"messages\": [".to_vec(),
            b"1,".repeat(25 << 20),
            b"1]}]}".to_vec(),
        ]
        .concat(),
        [
            b"{\"agents\": [{\"metadata\": [".to_vec(),
            b"1,".repeat(25 << 20),
            b"1]}]}".to_vec(),
        ]
        .concat(),
    ];
    for bytes in nonsense {
        let began = Instant::now();
        let head = String::from_utf8_lossy(&bytes[..30]).into_owned();
        let answer = send(&server, form(Some(&bytes), &[])).await;
        assert_eq!(answer.status, 400, "{head}");
        assert!(answer.text.len() < 40_000, "{head}");
        assert!(began.elapsed().as_secs() < 60, "{head}");
    }
    for bytes in [(64 << 20) + 1, 70 << 20] {
        let answer = send(&server, form(Some(&vec![b' '; bytes]), &[])).await;
        assert_eq!(answer.refusal(), (413, "body_too_large"), "{bytes}");
    }
    // A history of some megabytes is taken.
    let long = "x".repeat(1 << 20);
    let messages = (0..20).map(|at| {
        json!({
            "id": format!("message-{at}"), "role": "user", "content": long,
        })
    });
    let messages: Vec<_> = messages.collect();
    let made = imported(&server, &document(json!({ "messages": messages })), &[]).await;
    let path = format!("/v1/agents/{}/export", text(&made["id"]));
    let back = read(&server, &path).await;
    assert_eq!(back["agents"][0]["messages"].as_array().unwrap().len(), 21);
}
