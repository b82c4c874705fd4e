//! The tools as a server calls them, with mocked agents.

use bulkhead_sdk::{
    Error, Output, agents, json,
    mock::{Host, call},
    serde_json::Value,
};
use tool_messages::TOOLS;

const ASK: &str = "send_message_to_agent_and_wait_for_reply";
const NOTIFY: &str = "send_message_to_agent_async";
const ASK_MATCHING: &str = "send_message_to_agents_matching_tags";

fn run(tool: &str, input: Value) -> Result<Output, Error> {
    call(TOOLS, tool, input)
}

fn to(agent: &str, message: &str) -> Value {
    json!({ "message": message, "other_agent_id": agent })
}

/// Agents of which `agent-b` answers, `agent-silent` says nothing, `agent-slow` takes too long and
/// others are not there.
fn host() -> Host {
    Host::new()
        .agent_id("agent-a")
        .agents(|agent, _| match agent {
            "agent-b" | "*" => Ok("it's me".to_owned()),
            "agent-silent" => Ok(String::new()),
            "agent-slow" => Err(agents::Error::Timeout),
            _ => Err(agents::Error::NotFound),
        })
}

#[test]
fn a_message_to_the_user_is_acknowledged() {
    let sent = run("send_message", json!({ "message": "Hello!" }));
    assert_eq!(
        sent.expect("it succeeds").text(),
        "Sent message successfully."
    );
}

#[test]
fn an_answer_comes_back_as_a_dictionary() {
    let host = host().install();
    let output = run(ASK, to("agent-b", "who are you?")).expect("it succeeds");
    assert_eq!(
        output.text(),
        r#"{'agent_id': 'agent-b', 'response': ["it's me"]}"#
    );
    assert_eq!(
        output.structured,
        Some(json!({ "agent_id": "agent-b", "response": ["it's me"] }))
    );
    let silent = run(ASK, to("agent-silent", "who are you?")).expect("it succeeds");
    assert_eq!(
        silent.text(),
        "{'agent_id': 'agent-silent', 'response': ['<no response>']}"
    );
    assert_eq!(host.messages()[0].text, "who are you?");
}

#[test]
fn a_notice_is_sent_as_it_is() {
    let host = host().install();
    let sent = run(NOTIFY, to("agent-b", "Done.")).expect("it succeeds");
    assert_eq!(sent.text(), "Successfully sent message");
    assert_eq!(host.messages()[0].text, "Done.");
}

#[test]
fn agents_by_tags_answer_in_a_list() {
    let _host = host().install();
    let input = json!({ "message": "who?", "match_all": ["x"], "match_some": [] });
    let output = run(ASK_MATCHING, input).expect("it succeeds");
    assert_eq!(
        output.text(),
        r#"[{'agent_id': '*', 'response': ["it's me"]}]"#
    );
}

#[test]
fn who_does_not_answer_is_named() {
    let _host = host().install();
    assert_eq!(
        run(ASK, to("agent-z", "hi")),
        Err(Error::failed("There is no agent with ID 'agent-z'."))
    );
    assert_eq!(
        run(NOTIFY, to("agent-slow", "hi")),
        Err(Error::failed(
            "The agent with ID 'agent-slow' did not answer in time."
        ))
    );
}

#[test]
fn without_a_grant_nothing_is_sent() {
    let _denied = Host::new().agent_id("agent-a").install();
    assert!(matches!(
        run(NOTIFY, to("agent-b", "hi")),
        Err(Error::Denied(_))
    ));
}

#[test]
fn parameters_are_those_of_the_contract() {
    for (tool, required) in [
        ("send_message", vec!["message"]),
        (ASK, vec!["message", "other_agent_id"]),
        (NOTIFY, vec!["message", "other_agent_id"]),
        (ASK_MATCHING, vec!["message", "match_all", "match_some"]),
    ] {
        let tool = TOOLS
            .iter()
            .find(|each| each.name() == tool)
            .expect("there is one");
        let schema = tool.input_schema();
        assert_eq!(schema["required"], json!(required), "{}", tool.name());
        let properties = schema["properties"].as_object().expect("an object");
        assert_eq!(properties.len(), required.len(), "{}", tool.name());
    }
}
