//! Folders themselves.

use serde_json::{Value, json};

use super::{embedding, folder, touched, uploaded};
use crate::{
    both::on_both,
    clients::{NOBODY, agent, detail, each, made, patched, read, text},
};

on_both! {
    async fn a_folder_has_every_field_and_changes(server) {
        let body = json!({
            "name": "docs", "description": "Texts.", "instructions": "Read.", "metadata": { "a": 1 },
            "embedding_config": embedding(), "embedding_chunk_size": 64,
        });
        let folder = made(&server, "/v1/folders/", &body).await;
        let id = text(&folder["id"]);
        assert!(id.starts_with("source-"), "{id}");
        for (field, expected) in [
            ("name", json!("docs")), ("description", json!("Texts.")), ("instructions", json!("Read.")),
            ("metadata", json!({ "a": 1 })),
        ] {
            assert_eq!(folder[field], expected, "{field}");
        }
        assert_eq!(folder["embedding_config"]["embedding_chunk_size"], 64);
        let path = format!("/v1/folders/{id}");
        assert_eq!(read(&server, &path).await, folder);
        let changed = patched(&server, &path, &json!({ "name": "texts", "metadata": null })).await;
        assert_eq!((&changed["name"], &changed["metadata"]), (&json!("texts"), &json!({ "a": 1 })));
        assert_eq!(read(&server, "/v1/folders/name/texts").await, json!(id));
        assert_eq!(read(&server, "/v1/folders/count").await, json!(1));
        let deleted = server.delete(&path).await;
        assert_eq!((deleted.status.as_u16(), deleted.body), (200, Value::Null));
        for path in [path, format!("/v1/folders/source-{NOBODY}/files"), "/v1/folders/name/texts".to_owned()] {
            assert_eq!(server.get(&path).await.status, 404, "{path}");
        }
    }

    async fn a_folder_needs_a_model_and_a_name_of_its_own(server) {
        let refused = server.post("/v1/folders/", &json!({ "name": "docs" })).await;
        let expected = "INVALID_ARGUMENT: Must specify either embedding or embedding_config in request";
        assert_eq!(detail(&refused), (400, expected));
        folder(&server, "docs").await;
        let again = json!({ "name": "docs", "embedding_config": embedding() });
        let refused = server.post("/v1/folders/", &again).await;
        assert_eq!(refused.status, 409, "{refused:?}");
        let other = folder(&server, "other").await;
        let refused = server.patch(&format!("/v1/folders/{other}"), &json!({ "name": "docs" })).await;
        assert_eq!(refused.status, 409, "{refused:?}");
        for name in ["a\nb", " "] {
            let body = json!({ "name": name, "embedding_config": embedding() });
            assert_eq!(server.post("/v1/folders/", &body).await.status, 400, "{body}");
        }
        let extra = json!({ "name": "x", "embedding_config": embedding(), "more": 1 });
        let refused = server.post("/v1/folders/", &extra).await;
        assert!(detail(&refused).1.contains("extra_forbidden"), "{refused:?}");
        let malformed = server.get("/v1/folders/folder-1").await;
        assert_eq!(malformed.status, 422, "{malformed:?}");
    }

    async fn folders_are_listed_the_oldest_first_page_by_page(server) {
        for name in ["a", "b", "c"] {
            folder(&server, name).await;
        }
        let all = read(&server, "/v1/folders/").await;
        assert_eq!(each(&all, "name"), ["a", "b", "c"]);
        let after = format!("/v1/folders/?limit=1&after={}", text(&all[0]["id"]));
        assert_eq!(each(&read(&server, &after).await, "name"), ["b"]);
        assert_eq!(each(&read(&server, "/v1/folders/?order=desc&limit=2").await, "name"), ["c", "b"]);
        assert_eq!(each(&read(&server, "/v1/folders/?name=b").await, "name"), ["b"]);
    }

    async fn what_is_in_folders_is_counted(server) {
        let docs = folder(&server, "docs").await;
        uploaded(&server, &docs, "a.txt", "12345").await;
        folder(&server, "empty").await;
        let numbers = read(&server, "/v1/folders/metadata").await;
        assert_eq!(numbers, json!({ "total_sources": 2, "total_files": 1, "total_size": 5, "sources": [] }));
        let numbers = read(&server, "/v1/folders/metadata?include_detailed_per_source_metadata=true").await;
        assert_eq!(each(&numbers["sources"], "source_name"), ["docs", "empty"]);
        assert_eq!(numbers["sources"][0]["files"][0]["file_size"], 5);
    }

    async fn a_deleted_folder_leaves_nothing_at_its_agents(server) {
        let docs = folder(&server, "docs").await;
        uploaded(&server, &docs, "a.txt", "text").await;
        let agent = agent(&server, json!({ "folder_ids": [docs] })).await;
        let of_folder = format!("/v1/folders/{docs}/agents");
        assert_eq!(read(&server, &of_folder).await, json!([agent]));
        assert_eq!(server.delete(&format!("/v1/folders/{docs}")).await.status, 200);
        let files = read(&server, &format!("/v1/agents/{agent}/files")).await;
        assert_eq!(files, json!({ "files": [], "next_cursor": null, "has_more": false }));
        assert_eq!(read(&server, &format!("/v1/agents/{agent}/folders")).await, json!([]));
        let again = touched(&server, &format!("/v1/agents/{agent}/folders/attach/{docs}")).await;
        assert_eq!(again.status, 404, "{again:?}");
    }
}
