use super::*;
use crate::testing::{agent, block};

fn parts<'a>(agent: &'a Agent, blocks: &'a [Block]) -> Parts<'a> {
    Parts {
        agent,
        blocks,
        conversation: None,
        hidden_messages: 3,
        passages: 0,
        passage_tags: &[],
        directories: &[],
        files_open: 0,
        at: Timestamp::from_micros(1_795_293_487_000_000),
    }
}

#[test]
fn sections_stand_in_the_order_that_clients_know() {
    let mut agent = agent("Bob");
    agent.system = "Be kind.".to_owned();
    agent.tool_rules =
        serde_json::from_value(serde_json::json!([{"type": "exit_loop", "tool_name": "A"}]))
            .unwrap();
    let mut human = block("human", "Name: Bob");
    human.read_only = true;
    human.description = Some("Who it is.".to_owned());
    let text = Sections::of(&parts(&agent, &[human])).text();
    let expected = [
        "Be kind.\n\n<memory_blocks>\n",
        "\n\n<human>\n<description>\nWho it is.\n</description>\n<metadata>\n- read_only=true\n- chars_current=9\n- chars_limit=100000\n</metadata>\n<value>\nName: Bob\n</value>\n</human>\n\n</memory_blocks>\n\n<tool_usage_rules>\n",
        "\n<tool_rule>\nA ends your response (yields control) when called\n</tool_rule>\n</tool_usage_rules>\n\n<memory_metadata>\n",
        &format!(
            "- AGENT_ID: {}\n- CONVERSATION_ID: default\n- System prompt last recompiled: 2026-11-21 08:38:07 PM UTC+0000\n- 3 ",
            agent.id
        ),
        "</memory_metadata>",
    ];
    let mut rest = text.as_str();
    for piece in expected {
        let at = rest.find(piece);
        assert!(at.is_some(), "missing {piece:?} in {rest}");
        rest = &rest[at.unwrap() + piece.len()..];
    }
    assert_eq!(rest, "");
}

#[test]
fn folders_stand_after_rules_with_what_is_seen_of_open_files() {
    let mut agent = agent("Bob");
    agent.max_files_open = Some(10);
    agent.per_file_view_window_char_limit = Some(25_000);
    let config = serde_json::json!({
        "embedding_endpoint_type": "openai", "embedding_model": "m", "embedding_dim": 8,
    });
    let mut folder = Folder::new("docs", serde_json::from_value(config).unwrap());
    folder.description = Some("Texts.".to_owned());
    let visible = "[Viewing file start (out of 1 lines)]\n1: hello";
    let file = |name: &str, visible: Option<&str>| AgentFile {
        id: bulkhead_domain::Id::random(),
        file_id: bulkhead_domain::Id::random(),
        path: folder.path(name),
        folder_id: folder.id,
        folder_name: folder.name.clone(),
        media_type: "text/plain".to_owned(),
        size: 5,
        is_open: visible.is_some(),
        visible: visible.map(str::to_owned),
        first_line: None,
        last_line: None,
        last_accessed_at: Timestamp::now(),
    };
    let files = vec![file("t.txt", Some(visible)), file("\"><u.txt", None)];
    let directories = [Directory {
        folder: folder.clone(),
        files,
    }];
    let mut parts = parts(&agent, &[]);
    (parts.directories, parts.files_open) = (&directories, 1);
    let expected = "<directories>\n<file_limits>\n- current_files_open=1\n- max_files_open=10\n\
        </file_limits>\n<directory name=\"docs\">\n<description>Texts.</description>\n\
        <file status=\"open\" name=\"docs/t.txt\">\n<metadata>\n- read_only=true\n\
        - chars_current=46\n- chars_limit=25000\n</metadata>\n<value>\n\
        [Viewing file start (out of 1 lines)]\n1: hello\n</value>\n</file>\n\
        <file status=\"closed\" name=\"docs/&quot;&gt;&lt;u.txt\">\n<metadata>\n\
        - read_only=true\n- chars_current=0\n- chars_limit=25000\n</metadata>\n</file>\n\
        </directory>\n</directories>\n\n<memory_metadata>";
    let text = Sections::of(&parts).text();
    assert!(text.contains(expected), "{text}");
}

#[test]
fn memory_goes_where_the_instructions_want_it() {
    let mut agent = agent("Bob");
    agent.system = "before {CORE_MEMORY} after".to_owned();
    let text = Sections::of(&parts(&agent, &[])).text();
    assert!(
        text.starts_with("before <memory_metadata>") && text.ends_with("</memory_metadata> after")
    );
}

#[test]
fn every_type_has_instructions() {
    for agent_type in [
        AgentType::LettaV1Agent,
        AgentType::MemgptAgent,
        AgentType::SleeptimeAgent,
    ] {
        assert!(instructions(agent_type).contains("<base_instructions>"));
    }
}

use bulkhead_domain::{AgentFile, AgentType, Folder};
