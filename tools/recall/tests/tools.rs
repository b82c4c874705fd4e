//! The tools as a server calls them, over a mocked conversation and archive.

use bulkhead_sdk::{
    Error, Output, json,
    mock::{Host, call},
    recall::{Passage, Turn},
    serde_json::Value,
};
use tool_recall::TOOLS;

fn turn(id: &str, role: &str, text: &str, created_at: &str) -> Turn {
    Turn {
        id: id.to_owned(),
        role: role.to_owned(),
        text: text.to_owned(),
        created_at: created_at.to_owned(),
        score: None,
    }
}

fn passage(id: &str, text: &str, tags: &[&str]) -> Passage {
    Passage {
        id: id.to_owned(),
        text: text.to_owned(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        created_at: "2026-01-05T08:00:00Z".to_owned(),
        score: None,
    }
}

/// A conversation of four messages and an archive of two texts.
fn host() -> Host {
    Host::new()
        .turn(turn(
            "m1",
            "system",
            "Be kind about tea.",
            "2026-01-01T00:00:00Z",
        ))
        .turn(turn("m2", "user", "I like tea", "2026-01-02T10:00:00Z"))
        .turn(turn(
            "m3",
            "assistant",
            "Tea it's then",
            "2026-01-02T23:30:00Z",
        ))
        .turn(turn("m4", "tool", "kettle on", "2026-01-03T12:00:00Z"))
        .passage(passage("p1", "Ann drinks tea", &["ann", "drinks"]))
        .passage(passage("p2", "Bo drinks coffee", &["bo", "drinks"]))
}

fn run(tool: &str, input: Value) -> Result<Output, Error> {
    call(TOOLS, tool, input)
}

/// The contents of what a search found.
fn contents(tool: &str, input: Value) -> Vec<String> {
    let output = run(tool, input).expect("it succeeds");
    let structured = output.structured.unwrap_or_default();
    let results = structured.get("results").unwrap_or(&structured);
    let results = results.as_array().into_iter().flatten();
    results
        .map(|result| result["content"].as_str().expect("a text").to_owned())
        .collect()
}

#[test]
fn what_was_said_is_found_and_shown_as_python_writes_it() {
    let _host = host().install();
    let output = run("conversation_search", json!({ "query": "TEA", "limit": 1 }));
    let output = output.expect("it succeeds");
    let value = output.structured.clone().expect("a value");
    assert_eq!(value["message"], "Showing 1 results:");
    let entry = &value["results"][0];
    assert_eq!(entry["timestamp"], "2026-01-02T23:30:00Z");
    assert_eq!(entry["role"], "assistant");
    assert_eq!(entry["relevance"], json!({ "search_mode": "sql" }));
    let ago = entry["time_ago"].as_str().expect("a text");
    assert!(ago.ends_with(" ago") || ago == "just now", "{ago}");
    assert_eq!(
        output.text(),
        format!(
            "{{'message': 'Showing 1 results:', 'results': [{{'timestamp': '2026-01-02T23:30:00Z', 'time_ago': \
             '{ago}', 'role': 'assistant', 'relevance': {{'search_mode': 'sql'}}, 'content': \"Tea it's then\"}}]}}"
        )
    );
}

#[test]
fn a_search_without_results_says_so() {
    let _host = host().install();
    let output = run("conversation_search", json!({ "query": "gold" })).expect("it succeeds");
    assert_eq!(output.text(), "No results found.");
    assert_eq!(output.structured, None);
}

#[test]
fn instructions_are_no_part_of_the_conversation() {
    let _host = host().install();
    let found = contents("conversation_search", json!({ "query": " " }));
    assert_eq!(found, ["kettle on", "Tea it's then", "I like tea"]);
    let found = contents("conversation_search", json!({ "roles": ["user", "tool"] }));
    assert_eq!(found, ["kettle on", "I like tea"]);
    assert!(run("conversation_search", json!({ "roles": ["system"] })).is_err());
}

#[test]
fn a_date_means_its_whole_day() {
    let _host = host().install();
    let day = json!({ "start_date": "2026-01-02", "end_date": "2026-01-02" });
    assert_eq!(
        contents("conversation_search", day),
        ["Tea it's then", "I like tea"]
    );
    let until = json!({ "end_date": "2026-01-02T12:00" });
    assert_eq!(contents("conversation_search", until), ["I like tea"]);
    assert_eq!(
        run("conversation_search", json!({ "start_date": "tomorrow" })),
        Err(Error::failed(
            "Invalid start_date: 'tomorrow'. Use an ISO 8601 date such as 2025-01-31, or a date and time such as 2025-01-31T14:30."
        ))
    );
}

#[test]
fn what_is_archived_is_found_by_text_and_tags() {
    let _host = host().install();
    let stored = run(
        "archival_memory_insert",
        json!({ "content": "Ann has a cat", "tags": ["ann", "pets"] }),
    );
    let stored = stored.expect("it succeeds");
    assert_eq!(
        (stored.text().as_str(), stored.structured),
        ("None", Some(Value::Null))
    );
    let search = |tags: Value, mode: &str| {
        let input = json!({ "query": "a", "tags": tags, "tag_match_mode": mode });
        contents("archival_memory_search", input)
    };
    assert_eq!(
        search(json!(["ann"]), "any"),
        ["Ann drinks tea", "Ann has a cat"]
    );
    assert_eq!(search(json!(["ann", "pets"]), "all"), ["Ann has a cat"]);
    let output = run("archival_memory_search", json!({ "query": "coffee" })).expect("it succeeds");
    assert_eq!(
        output.text(),
        "[{'id': 'p2', 'timestamp': '2026-01-05T08:00:00Z', 'content': 'Bo drinks coffee', 'tags': ['bo', 'drinks']}]"
    );
    let none = run("archival_memory_search", json!({ "query": "gold" })).expect("it succeeds");
    assert_eq!(
        (none.text().as_str(), none.structured),
        ("[]", Some(json!([])))
    );
    assert!(run("archival_memory_insert", json!({ "content": " " })).is_err());
}

#[test]
fn without_a_grant_nothing_is_recalled() {
    for (tool, input) in [
        ("conversation_search", json!({})),
        ("archival_memory_insert", json!({ "content": "x" })),
        ("archival_memory_search", json!({ "query": "x" })),
        ("search_memory", json!({})),
    ] {
        assert!(matches!(run(tool, input), Err(Error::Denied(_))), "{tool}");
    }
}

#[test]
fn numbered_lines_of_the_latest_message_are_archived_with_their_context() {
    let transcript = "Keep what matters.\n0: user: I moved\n1: assistant: Where?\n2: user: Oslo";
    let latest = turn("m5", "user", transcript, "2026-01-04T00:00:00Z");
    let _host = host().turn(latest).install();
    let chunk = |first: i64, last: i64| json!({ "start_index": first, "end_index": last, "context": "The user's home:" });
    let fault = run(
        "store_memories",
        json!({ "chunks": [chunk(0, 1), chunk(7, 8)] }),
    );
    assert_eq!(
        fault,
        Err(Error::failed(
            "Nothing was stored: the transcript has no lines 7 to 8."
        ))
    );
    assert!(contents("archival_memory_search", json!({ "query": "home" })).is_empty());
    run("store_memories", json!({ "chunks": [chunk(1, 2)] })).expect("it succeeds");
    assert_eq!(
        contents("archival_memory_search", json!({ "query": "home" })),
        ["The user's home:\nassistant: Where?\nuser: Oslo"]
    );
}

#[test]
fn memories_are_searched_in_messages_and_archive_each_once() {
    let _host = host().install();
    let found = contents(
        "search_memory",
        json!({ "convo_keyword_queries": ["tea", "drinks", " "] }),
    );
    assert_eq!(
        found,
        [
            "Ann drinks tea",
            "Bo drinks coffee",
            "Tea it's then",
            "I like tea"
        ]
    );
    // All of it is older than an hour.
    let recent = json!({ "convo_keyword_queries": ["tea"], "start_minutes_ago": 60 });
    let recent = run("search_memory", recent).expect("it succeeds");
    assert_eq!(recent.text(), "No results found.");
    assert_eq!(
        contents("search_memory", json!({ "end_minutes_ago": 60 })).len(),
        3
    );
    let many = json!({ "convo_keyword_queries": vec!["tea"; 21] });
    assert!(matches!(run("search_memory", many), Err(Error::Failed(_))));
}

#[test]
fn parameters_are_those_of_the_contract() {
    for (tool, required, all) in [
        ("conversation_search", vec![], 5),
        ("archival_memory_insert", vec!["content"], 2),
        ("archival_memory_search", vec!["query"], 6),
        ("store_memories", vec!["chunks"], 1),
        ("search_memory", vec![], 3),
    ] {
        let tool = TOOLS
            .iter()
            .find(|each| each.name() == tool)
            .expect("there is one");
        let schema = tool.input_schema();
        assert_eq!(schema["required"], json!(required), "{}", tool.name());
        let properties = schema["properties"].as_object().expect("an object");
        assert_eq!(properties.len(), all, "{}", tool.name());
        assert!(
            tool.wishes().contains(r#""recall":true"#),
            "{}",
            tool.wishes()
        );
    }
}
