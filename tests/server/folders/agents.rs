//! Agents and the files of their folders.

use reqwest::header::USER_AGENT;
use serde_json::{Value, json};

use super::{folder, touched, uploaded};
use crate::{
    both::on_both,
    clients::{NOBODY, SCRIPTED, agent, detail, each, made, patched, read, text},
    messages::memory::with_tools,
    support::{Answer, TestServer},
};

async fn attach(server: &TestServer, agent: &str, folder: &str) {
    let path = format!("/v1/agents/{agent}/folders/attach/{folder}");
    let answer = touched(server, &path).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text.as_str()),
        (200, "null")
    );
}

async fn open(server: &TestServer, agent: &str) -> Vec<String> {
    let path = format!("/v1/agents/{agent}/files?is_open=true&order=asc");
    let files = read(server, &path).await;
    let names = each(&files["files"], "file_name").into_iter();
    names.map(str::to_owned).collect()
}

on_both! {
    async fn an_attached_folder_is_open_as_far_as_may_be(server) {
        let docs = folder(&server, "docs").await;
        let mut ids = Vec::new();
        for name in ["a.txt", "b.txt", "c.txt"] {
            ids.push(uploaded(&server, &docs, name, "hello world\nsecond\nthird\n").await);
        }
        let agent = agent(&server, json!({ "max_files_open": 2 })).await;
        attach(&server, &agent, &docs).await;
        assert_eq!(open(&server, &agent).await, ["docs/a.txt", "docs/b.txt"]);
        let files = read(&server, &format!("/v1/agents/{agent}/files?order=asc")).await;
        let first = &files["files"][0];
        let visible = "[Viewing file start (out of 3 lines)]\n1: hello world\n2: second\n3: third";
        for (field, expected) in [
            ("file_id", json!(ids[0])), ("file_name", json!("docs/a.txt")), ("folder_id", json!(docs)),
            ("folder_name", json!("docs")), ("is_open", json!(true)), ("visible_content", json!(visible)),
            ("start_line", json!(null)), ("end_line", json!(null)),
        ] {
            assert_eq!(first[field], expected, "{field}");
        }
        assert!(text(&first["id"]).starts_with("file_agent-"));
        assert_eq!(files["files"][2]["visible_content"], json!(null));
        let file = |at: usize, what: &str| format!("/v1/agents/{agent}/files/{}/{what}", ids[at]);
        let closed = touched(&server, &file(2, "open")).await;
        assert_eq!((closed.status.as_u16(), closed.body), (200, json!(["docs/a.txt"])));
        assert_eq!(open(&server, &agent).await, ["docs/b.txt", "docs/c.txt"]);
        let closed = touched(&server, &file(1, "close")).await;
        assert_eq!(closed.body, json!({ "message": format!("File id={} successfully closed", ids[1]) }));
        let closed = touched(&server, &format!("/v1/agents/{agent}/files/close-all")).await;
        assert_eq!(closed.body, json!(["docs/c.txt"]));
        assert_eq!(open(&server, &agent).await, Vec::<String>::new());
        let detach = format!("/v1/agents/{agent}/folders/detach/{docs}");
        assert_eq!(touched(&server, &detach).await.text, "null");
        for what in ["open", "close"] {
            assert_eq!(touched(&server, &file(0, what)).await.status, 404);
        }
        let unknown = touched(&server, &format!("/v1/agents/{agent}/folders/attach/source-{NOBODY}")).await;
        assert_eq!(unknown.status, 404, "{unknown:?}");
    }

    async fn a_new_agent_answers_with_its_folders_and_files(server) {
        let docs = folder(&server, "docs").await;
        let more = folder(&server, "more").await;
        let file = uploaded(&server, &docs, "a.txt", "in view").await;
        let body = json!({ "model": SCRIPTED, "folder_ids": [docs], "source_ids": [more] });
        let new = made(&server, "/v1/agents/", &body).await;
        assert_eq!(each(&new["sources"], "id"), [docs.as_str(), more.as_str()]);
        assert_eq!(each(&new["memory"]["file_blocks"], "file_id"), [file.as_str()]);
        let body = json!({ "model": SCRIPTED });
        let without = made(&server, "/v1/agents/", &body).await;
        assert_eq!((&without["sources"], &without["memory"]["file_blocks"]), (&json!([]), &json!([])));
    }

    async fn the_files_of_an_agent_are_blocks_of_its_memory(server) {
        let docs = folder(&server, "docs").await;
        let mut ids = Vec::new();
        for name in ["a.txt", "b.txt"] {
            ids.push(uploaded(&server, &docs, name, "in view").await);
        }
        let body = json!({ "folder_ids": [docs], "max_files_open": 1, "per_file_view_window_char_limit": 500 });
        let agent = agent(&server, body).await;
        let other = crate::clients::agent(&server, json!({})).await;
        let memory = read(&server, &format!("/v1/agents/{agent}/core-memory")).await;
        let blocks = &memory["file_blocks"];
        for (field, expected) in [
            ("label", json!("docs/a.txt")), ("file_id", json!(ids[0])), ("source_id", json!(docs)),
            ("value", json!("[Viewing file start (out of 1 lines)]\n1: in view")), ("limit", json!(500)),
            ("is_open", json!(true)), ("read_only", json!(true)), ("metadata", json!({})),
        ] {
            assert_eq!(blocks[0][field], expected, "{field}");
        }
        assert!(text(&blocks[0]["id"]).starts_with("block-"));
        let closed = &blocks[1];
        let closed = (&closed["label"], &closed["value"], &closed["is_open"]);
        assert_eq!(closed, (&json!("docs/b.txt"), &json!(""), &json!(false)));
        // As of all relations, an agent that was read has none unless they are asked for.
        let path = format!("/v1/agents/{agent}");
        assert_eq!(read(&server, &path).await["memory"]["file_blocks"], json!([]));
        let listed = read(&server, "/v1/agents/?include=agent.blocks&order=asc").await;
        assert_eq!(&listed[0]["memory"]["file_blocks"], blocks);
        assert_eq!((text(&listed[1]["id"]), &listed[1]["memory"]["file_blocks"]), (other.as_str(), &json!([])));
    }

    async fn files_are_listed_by_cursor(server) {
        let docs = folder(&server, "docs").await;
        for name in ["a.txt", "b.txt", "c.txt"] {
            uploaded(&server, &docs, name, "text").await;
        }
        let agent = agent(&server, json!({ "folder_ids": [docs] })).await;
        let mut names = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/v1/agents/{agent}/files?limit=2{cursor}");
            let page = read(&server, &path).await;
            names.extend(each(&page["files"], "file_name").into_iter().map(str::to_owned));
            assert_eq!(page["has_more"], json!(!page["next_cursor"].is_null()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(names, ["docs/c.txt", "docs/b.txt", "docs/a.txt"]);
    }

    async fn what_is_uploaded_later_comes_to_the_agents_of_the_folder(server) {
        let docs = folder(&server, "docs").await;
        let agent = agent(&server, json!({ "folder_ids": [docs] })).await;
        let id = uploaded(&server, &docs, "late.txt", "late").await;
        assert_eq!(open(&server, &agent).await, ["docs/late.txt"]);
        let deleted = server.delete(&format!("/v1/folders/{docs}/{id}")).await;
        assert_eq!(deleted.status, 204);
        assert_eq!(open(&server, &agent).await, Vec::<String>::new());
    }

    async fn the_folders_of_an_agent_are_named_when_it_is_made_and_changed(server) {
        let docs = folder(&server, "docs").await;
        let more = folder(&server, "more").await;
        uploaded(&server, &docs, "a.txt", "in view").await;
        let agent = agent(&server, json!({ "folder_ids": [docs], "source_ids": [more] })).await;
        let path = format!("/v1/agents/{agent}");
        assert_eq!(read(&server, &path).await["sources"], json!([]));
        let with = format!("{path}?include=agent.sources");
        assert_eq!(each(&read(&server, &with).await["sources"], "name"), ["docs", "more"]);
        let overview = read(&server, &format!("{path}/context")).await;
        let shown = text(&overview["directories"]);
        assert!(shown.contains("<file status=\"open\" name=\"docs/a.txt\">"), "{shown}");
        assert!(overview["num_tokens_directories"].as_i64().unwrap() > 0);
        let changed = patched(&server, &path, &json!({ "folder_ids": [more] })).await;
        assert_eq!(each(&changed["sources"], "name"), ["more"]);
        let folders = read(&server, &format!("{path}/folders")).await;
        assert_eq!(folders[0]["vector_db_provider"], "native");
        assert_eq!(each(&folders, "name"), ["more"]);
        let unknown = json!({ "folder_ids": [format!("source-{NOBODY}")] });
        let refused = server.patch(&path, &unknown).await;
        assert_eq!(detail(&refused).0, 404);
        let legacy = server.request(reqwest::Method::GET, &path).header(USER_AGENT, "curl/8");
        let legacy = Answer::read(legacy.send().await.unwrap()).await;
        assert_eq!(each(&legacy.body["sources"], "name"), ["more"]);
    }

    async fn the_system_message_shows_folders_once_it_is_made_anew(server) {
        let docs = folder(&server, "docs").await;
        uploaded(&server, &docs, "a.txt", "in view").await;
        let agent = agent(&server, json!({})).await;
        let system = async || {
            let path = format!("/v1/agents/{agent}/messages?order=asc&limit=1");
            text(&read(&server, &path).await[0]["content"]).to_owned()
        };
        let before = system().await;
        attach(&server, &agent, &docs).await;
        assert_eq!(system().await, before, "attaching rewrites nothing");
        let recompiled = server.post(&format!("/v1/agents/{agent}/recompile"), &json!({})).await;
        assert_eq!(recompiled.status, 200, "{recompiled:?}");
        let after = system().await;
        assert!(after.contains("- current_files_open=1\n- max_files_open=10\n"), "{after}");
        assert!(after.contains("<value>\n[Viewing file start (out of 1 lines)]\n1: in view\n</value>"), "{after}");
    }
}

#[tokio::test]
async fn the_tools_that_read_files_come_with_the_first_folder_and_go_with_the_last() {
    let server = with_tools().await;
    let docs = folder(&server, "docs").await;
    let more = folder(&server, "more").await;
    let agent = agent(&server, json!({ "include_base_tools": false })).await;
    let tools = async || {
        let list = read(&server, &format!("/v1/agents/{agent}/tools")).await;
        let names = each(&list, "name").into_iter();
        let mut names: Vec<_> = names.map(str::to_owned).collect();
        names.sort();
        names
    };
    let all = ["grep_files", "open_files", "semantic_search_files"];
    for folder in [&docs, &more] {
        attach(&server, &agent, folder).await;
        assert_eq!(tools().await, all);
    }
    let detach = |folder: &str| format!("/v1/agents/{agent}/folders/detach/{folder}");
    touched(&server, &detach(&docs)).await;
    assert_eq!(tools().await, all);
    touched(&server, &detach(&more)).await;
    assert_eq!(tools().await, Vec::<String>::new());
    let path = format!("/v1/agents/{agent}");
    patched(&server, &path, &json!({ "folder_ids": [docs] })).await;
    assert_eq!(tools().await, all);
    patched(&server, &path, &json!({ "folder_ids": [] })).await;
    assert_eq!(tools().await, Vec::<String>::new());
    let listed = read(&server, "/v1/tools/?name=grep_files").await;
    assert_eq!(listed[0]["tool_type"], "letta_files_core");
    assert_eq!(listed[0]["enable_parallel_execution"], Value::Bool(true));
    let schema = &listed[0]["json_schema"]["parameters"];
    assert_eq!(schema["required"], json!(["pattern"]));
}
