//! The tools of a file: those that come with servers, those from source, those of components.

use serde_json::{Value, json};

use super::{agent, counts, detail, document, exported, import, imported, read, say, text};
use crate::{agents::tool, support::TestServer};

/// A document of an agent with one tool, which gives `value`.
fn with_tool(value: &str, more: Value) -> Value {
    let mut document = document(json!({ "tool_ids": ["tool-0"] }));
    let mut tool = json!({
        "id": "tool-0", "name": "roll", "source_type": "javascript",
        "source_code": format!("function roll() {{ return '{value}' }}"),
        "json_schema": { "name": "roll", "description": "Rolls.", "parameters": {
            "type": "object", "properties": {}, "required": [],
        } },
    });
    if let (Some(tool), Value::Object(more)) = (tool.as_object_mut(), more) {
        tool.extend(more);
    }
    document["tools"] = json!([tool]);
    document
}

#[tokio::test]
async fn a_tool_from_source_is_saved_by_its_name_and_replaced_unless_told_otherwise() {
    let server = TestServer::start().await;
    let noted = json!({ "metadata_": { "mine": 1, "function": "other" }, "tags": ["t"] });
    let first = imported(&server, &with_tool("six", noted), &[]).await;
    let saved = &first["tools"][0];
    assert_eq!(
        (&saved["name"], &saved["tags"]),
        (&json!("roll"), &json!(["t"]))
    );
    assert_eq!(saved["metadata_"]["mine"], 1);
    assert!(saved["metadata_"]["function"].is_null());
    let kept = [("override_existing_tools", "false")];
    let second = imported(&server, &with_tool("one", json!({})), &kept).await;
    assert_eq!(second["tools"][0]["id"], saved["id"]);
    assert_eq!(
        say(&server, &second, "call roll").await[1]["tool_return"],
        "six"
    );
    let third = imported(&server, &with_tool("one", json!({})), &[]).await;
    assert_eq!(third["tools"][0]["id"], saved["id"]);
    assert_eq!(
        say(&server, &first, "call roll").await[1]["tool_return"],
        "one"
    );
    // A tool that asks a person brings its rule.
    let careful = with_tool("one", json!({ "default_requires_approval": true }));
    let fourth = imported(&server, &careful, &[]).await;
    assert_eq!(fourth["tool_rules"][0]["type"], "requires_approval");
}

#[tokio::test]
async fn what_was_granted_to_a_tool_is_not_for_the_source_of_a_file() {
    let server = TestServer::start().await;
    imported(&server, &with_tool("six", json!({})), &[]).await;
    let grant = json!({
        "component": "source", "tool": "roll", "capabilities": { "state": true },
    });
    let grant = server.grant(grant).await;
    let before = counts(&server).await;
    let refused = import(&server, &with_tool("one", json!({})), &[]).await;
    let (status, detail) = detail(&refused);
    assert_eq!(status, 400, "{detail}");
    for expected in [
        "The tool 'roll' of the file",
        "override_existing_tools=false",
    ] {
        assert!(detail.contains(expected), "{detail}");
    }
    assert_eq!(counts(&server).await, before);
    // The same source keeps them, and so does the tool that is here.
    imported(&server, &with_tool("six", json!({})), &[]).await;
    let kept = [("override_existing_tools", "false")];
    let kept = imported(&server, &with_tool("one", json!({})), &kept).await;
    assert_eq!(
        say(&server, &kept, "call roll").await[1]["tool_return"],
        "six"
    );
    let revoked = server.delete(&format!("/v1/grants/{grant}")).await;
    assert!(revoked.status.is_success(), "{revoked:?}");
    // Nobody meant a certain source by what all of them may do.
    let of_all = json!({ "component": "source", "capabilities": { "state": true } });
    server.grant(of_all).await;
    let replaced = imported(&server, &with_tool("one", json!({})), &[]).await;
    assert_eq!(
        say(&server, &replaced, "call roll").await[1]["tool_return"],
        "one"
    );
}

#[tokio::test]
async fn a_tool_that_this_server_can_not_have_is_refused_before_anything_is_written() {
    let server = TestServer::start().await.with_friendly().await;
    let before = counts(&server).await;
    let component = json!({ "component": { "name": "far", "tool": "roll" } });
    for (more, reason) in [
        (
            json!({ "tool_type": "letta_builtin", "name": "run_everything" }),
            "The file needs the built-in tool 'run_everything' (letta_builtin), which this server does not have",
        ),
        (
            json!({ "source_code": null }),
            "The tool 'roll' of the file has no source_code",
        ),
        (
            json!({ "source_code": "", "metadata_": component }),
            "The file needs the tool 'roll' of the component 'far', which this server does not have; push that component first",
        ),
        (
            json!({ "source_code": "function roll( {" }),
            "The tool 'roll' of the file: Failed to derive json schema: ",
        ),
        (
            json!({ "source_code": "function roll(a) { return a }" }),
            "The tool 'roll' of the file: Function 'roll' needs a parameter 'a'",
        ),
        (
            json!({ "source_type": "cobol" }),
            "The tool 'roll' of the file: INVALID_ARGUMENT: Unsupported source type",
        ),
        (
            json!({ "name": "toss" }),
            "The tool 'toss' of the file is called 'roll' by its json_schema or its source",
        ),
        (
            json!({ "name": null, "json_schema": null }),
            "The tool tool-0 of the file needs a name, or a json_schema with one",
        ),
        (
            json!({ "npm_requirements": [{ "name": "left-pad" }] }),
            "The tool 'roll' of the file: npm_requirements: left-pad can't be imported",
        ),
        (
            json!({ "tool_type": "external_mcp" }),
            "This server can't hold everything that is in the file, and imported nothing: tools that run elsewhere: roll",
        ),
        (
            json!({ "name": "echo", "json_schema": { "name": "echo" }, "source_code": "function echo() {}" }),
            "INVALID_ARGUMENT: the name 'echo' belongs to a tool of the component friendly; choose another one",
        ),
    ] {
        let refused = import(&server, &with_tool("six", more), &[]).await;
        let (status, detail) = detail(&refused);
        assert_eq!(status, 400, "{reason}: {detail}");
        assert!(detail.starts_with(reason), "{reason}: {detail}");
    }
    let mut twice = with_tool("six", json!({}));
    let mut other = twice["tools"][0].clone();
    other["id"] = json!("tool-1");
    twice["tools"].as_array_mut().unwrap().push(other);
    let refused = import(&server, &twice, &[]).await;
    assert_eq!(
        detail(&refused),
        (400, "The file has two tools named 'roll'")
    );
    assert_eq!(counts(&server).await, before);
}

#[tokio::test]
async fn a_component_s_tool_is_found_where_the_component_is() {
    let server = TestServer::start().await.with_friendly().await;
    let body = json!({ "tools": ["echo"], "include_base_tools": false });
    let original = agent(&server, body).await;
    let document = exported(&server, &original, "").await;
    assert_eq!(
        document["tools"][0]["metadata_"]["component"]["name"],
        "friendly"
    );
    let copy = imported(&server, &document, &[]).await;
    assert_eq!(copy["tools"][0]["id"], original["tools"][0]["id"]);
    let elsewhere = TestServer::start().await;
    let refused = import(&elsewhere, &document, &[]).await;
    assert!(detail(&refused).1.contains("push that component first"));
}

#[tokio::test]
async fn an_import_that_fails_late_takes_everything_back() {
    let server = TestServer::start().await;
    let former = tool(&server, "roll", json!({ "tags": ["former"] })).await;
    let before = counts(&server).await;
    let mut document = with_tool("six", json!({}));
    let mut new = document["tools"][0].clone();
    new["id"] = json!("tool-1");
    new["name"] = json!("toss");
    new["source_code"] = json!("function toss() { return 1 }");
    new["json_schema"]["name"] = json!("toss");
    document["tools"].as_array_mut().unwrap().push(new);
    document["blocks"] = json!([{ "id": "block-0", "label": "b", "value": "v" }]);
    // The first agent is made; the second has more tags than an agent may have.
    let mut second = document["agents"][0].clone();
    second["id"] = json!("agent-1");
    second["tags"] = (0..300).map(|at| json!(format!("t{at}"))).collect();
    document["agents"].as_array_mut().unwrap().push(second);
    let refused = import(&server, &document, &[]).await;
    let (status, detail) = detail(&refused);
    assert_eq!(status, 400);
    assert!(detail.contains("the agent's list of tags"), "{detail}");
    assert_eq!(counts(&server).await, before);
    let path = format!("/v1/tools/{}", text(&former["id"]));
    assert_eq!(read(&server, &path).await, former);
}
