//! Folders of agents as files.

use serde_json::{Value, json};

use super::{completed, folder, touched, upload, uploaded};
use crate::{
    both::on_both,
    clients::{agent, each, read, text},
    support::TestServer,
};

/// Imports a document that must be taken; gives the id of its first agent.
async fn imported(server: &TestServer, document: &Value) -> String {
    let bytes = document.to_string();
    let answer = upload(server, "/v1/agents/import", "a.af", bytes.as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    text(&answer.body["agent_ids"][0]).to_owned()
}

on_both! {
    async fn an_agent_takes_its_folders_along(server) {
        let docs = folder(&server, "docs").await;
        let one = uploaded(&server, &docs, "a.txt", "one\ntwo\n").await;
        uploaded(&server, &docs, "b.txt", "three\n").await;
        let ada = agent(&server, json!({ "folder_ids": [docs], "include_base_tools": false })).await;
        touched(&server, &format!("/v1/agents/{ada}/files/{one}/close")).await;
        let document = read(&server, &format!("/v1/agents/{ada}/export")).await;
        assert_eq!(each(&document["sources"], "id"), ["source-0"]);
        assert_eq!(document["agents"][0]["source_ids"], json!(["source-0"]));
        let files = &document["files"];
        assert_eq!(each(files, "source_id"), ["source-0", "source-0"]);
        assert_eq!(each(files, "content"), ["one\ntwo\n", "three\n"]);
        let attached = document["agents"][0]["files_agents"].as_array().unwrap();
        let open: Vec<_> = attached.iter().map(|file| file["is_open"].clone()).collect();
        assert_eq!(open, [json!(false), json!(true)]);
        let whole = document.to_string();
        assert!(!whole.contains(&docs) && !whole.contains(&one), "no id of the database");

        let copy = imported(&server, &document).await;
        let folders = read(&server, &format!("/v1/agents/{copy}/folders")).await;
        let name = text(&folders[0]["name"]);
        assert!(name.starts_with("docs_") && name.len() == "docs_".len() + 8, "{name}");
        let new = text(&folders[0]["id"]).to_owned();
        let files = read(&server, &format!("/v1/folders/{new}/files")).await;
        for file in files.as_array().unwrap() {
            let done = completed(&server, &new, text(&file["id"])).await;
            assert_eq!(done["processing_status"], "completed");
        }
        let files = read(&server, &format!("/v1/agents/{copy}/files?order=asc")).await;
        let seen: Vec<_> = files["files"].as_array().unwrap().iter()
            .map(|file| (text(&file["file_name"]).to_owned(), file["is_open"].clone())).collect();
        let expected = [(format!("{name}/a.txt"), json!(false)), (format!("{name}/b.txt"), json!(true))];
        assert_eq!(seen, expected);
        let system = read(&server, &format!("/v1/agents/{copy}/messages?order=asc&limit=1")).await;
        let system = text(&system[0]["content"]);
        assert!(system.contains(&format!("name=\"{name}/b.txt\"")), "{system}");

        // Where the name is free it is kept.
        for id in [&docs, &new] {
            assert_eq!(server.delete(&format!("/v1/folders/{id}")).await.status, 200);
        }
        let again = imported(&server, &document).await;
        let folders = read(&server, &format!("/v1/agents/{again}/folders")).await;
        assert_eq!(each(&folders, "name"), ["docs"]);
    }

    async fn nothing_of_a_file_stays_where_its_folder_can_not_be_made(server) {
        let docs = folder(&server, "docs").await;
        uploaded(&server, &docs, "a.txt", "text").await;
        let ada = agent(&server, json!({ "folder_ids": [docs], "include_base_tools": false })).await;
        let mut document = read(&server, &format!("/v1/agents/{ada}/export")).await;
        document["sources"][0]["embedding_config"] = Value::Null;
        document["sources"][0]["embedding"] = Value::Null;
        let bytes = document.to_string();
        let answer = upload(&server, "/v1/agents/import", "a.af", bytes.as_bytes()).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.text.contains("names no embedding model"), "{answer:?}");
        assert_eq!(read(&server, "/v1/folders/count").await, json!(1));
        assert_eq!(read(&server, "/v1/agents/count").await, json!(1));
    }
}
