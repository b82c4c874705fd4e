//! What agents do with their files, told by the offline model.

use serde_json::{Value, json};

use super::{folder, uploaded};
use crate::{
    clients::read,
    messages::{agent, memory::with_tools, say, text},
    support::TestServer,
};

/// Has the model call a tool; gives the status and the text of what it returned.
async fn called(server: &TestServer, agent: &str, tool: &str, input: Value) -> (String, String) {
    let answer = say(server, agent, &format!("call {tool} with {input}")).await;
    let messages = answer["messages"].as_array().unwrap();
    let message = messages
        .iter()
        .find(|message| message["message_type"] == "tool_return_message");
    let message = message.unwrap_or_else(|| panic!("a tool was called: {answer}"));
    let (status, returned) = (text(&message["status"]), text(&message["tool_return"]));
    (status.to_owned(), returned.to_owned())
}

#[tokio::test]
async fn an_agent_opens_and_searches_its_files() {
    let server = with_tools().await;
    let docs = folder(&server, "docs").await;
    let lines: String = (1..=30).map(|n| format!("entry {n}\n")).collect();
    uploaded(&server, &docs, "a.txt", "hello world\nfoo\nHello again\n").await;
    uploaded(&server, &docs, "b.txt", &lines).await;
    uploaded(&server, &docs, "c.md", "# Badgers\nThey dig.\n").await;
    let more = json!({ "folder_ids": [docs], "max_files_open": 2 });
    let ada = agent(&server, more).await;

    let part =
        json!({ "file_requests": [{ "file_name": "docs/a.txt", "offset": 0, "length": 2 }] });
    let opened = called(&server, &ada, "open_files", part).await;
    let expected = "* Opened docs/a.txt (lines 1-2) (previously full file)";
    assert_eq!(opened, ("success".to_owned(), expected.to_owned()));
    let first = format!("/v1/agents/{ada}/messages?order=asc&limit=1");
    let system = read(&server, &first).await;
    let shown = text(&system[0]["content"]);
    let view = "[Viewing lines 1 to 2 (out of 3 lines)]\n1: hello world\n2: foo\n</value>";
    assert!(shown.contains(view), "{shown}");

    let other = json!({ "file_requests": [{ "file_name": "docs/c.md" }] });
    let (_, told) = called(&server, &ada, "open_files", other).await;
    assert!(told.starts_with("* Opened docs/c.md\n"), "{told}");
    assert!(told.contains("(2): docs/b.txt"), "{told}");
    let alone =
        json!({ "file_requests": [{ "file_name": "docs/b.txt" }], "close_all_others": true });
    let (_, told) = called(&server, &ada, "open_files", alone).await;
    let expected = "Closed 2 file(s) due to close_all_others=True";
    assert!(told.contains(expected), "{told}");
    let open = read(&server, &format!("/v1/agents/{ada}/files?is_open=true")).await;
    assert_eq!(open["files"].as_array().unwrap().len(), 1);
    assert_eq!(open["files"][0]["file_name"], "docs/b.txt");

    let hello = json!({ "pattern": "hello" });
    let (_, found) = called(&server, &ada, "grep_files", hello).await;
    let expected = "Found 2 total matches across 1 files (showing matches 1-2 of 2)\n";
    assert!(found.starts_with(expected), "{found}");
    let expected = "=== docs/a.txt:3 ===\n  2: foo\n> 3: Hello again";
    assert!(found.contains(expected), "{found}");
    let page = json!({ "pattern": "^entry", "include": "*.txt", "offset": 20, "context_lines": 0 });
    let (_, found) = called(&server, &ada, "grep_files", page).await;
    assert!(found.contains("(showing matches 21-30 of 30)"), "{found}");

    let query = json!({ "query": "badgers dig" });
    let (_, found) = called(&server, &ada, "semantic_search_files", query).await;
    let expected = "Found 1 semantic matches in 1 files for query: 'badgers dig'\n";
    assert!(found.starts_with(expected), "{found}");
    let expected = "=== docs/c.md (passage #1) ===\n# Badgers";
    assert!(found.contains(expected), "{found}");
}

#[tokio::test]
async fn an_agent_is_told_what_it_can_not_open_and_search() {
    let server = with_tools().await;
    let docs = folder(&server, "docs").await;
    uploaded(&server, &docs, "a.txt", "text").await;
    let more = json!({ "folder_ids": [docs], "max_files_open": 1 });
    let ada = agent(&server, more).await;
    let file = |name: &str| json!({ "file_name": name });
    for (tool, input, expected) in [
        (
            "open_files",
            json!({ "file_requests": [file("a.txt")] }),
            "The attached files are: docs/a.txt",
        ),
        (
            "open_files",
            json!({ "file_requests": [{ "file_name": "docs/a.txt", "offset": 5 }] }),
            "the range of lines is not in the file",
        ),
        (
            "open_files",
            json!({ "file_requests": [file("docs/a.txt"), file("docs/a.txt")] }),
            "no more than 1 can be open",
        ),
        (
            "grep_files",
            json!({ "pattern": "(" }),
            "no regular expression",
        ),
        (
            "semantic_search_files",
            json!({ "query": "" }),
            "The query is empty",
        ),
    ] {
        let (status, told) = called(&server, &ada, tool, input).await;
        assert!(
            status == "error" && told.contains(expected),
            "{tool}: {told}"
        );
    }
}

#[tokio::test]
async fn an_agent_sees_no_files_but_its_own() {
    let server = with_tools().await;
    let docs = folder(&server, "docs").await;
    let secret = folder(&server, "secret").await;
    uploaded(&server, &docs, "a.txt", "a word").await;
    uploaded(&server, &secret, "b.txt", "another word").await;
    let ada = agent(&server, json!({ "folder_ids": [docs] })).await;
    let word = json!({ "pattern": "word" });
    let (_, found) = called(&server, &ada, "grep_files", word).await;
    assert!(
        found.contains("docs/a.txt") && !found.contains("secret"),
        "{found}"
    );
    let another = json!({ "query": "another" });
    let (_, found) = called(&server, &ada, "semantic_search_files", another).await;
    assert!(found.starts_with("No semantic matches found"), "{found}");
    let open = json!({ "file_requests": [{ "file_name": "secret/b.txt" }] });
    assert_eq!(called(&server, &ada, "open_files", open).await.0, "error");
}
