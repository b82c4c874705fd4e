//! Archives and their passages, of agents and by themselves.

use serde_json::{Value, json};

use super::{
    NOBODY, agent, detail, each, made, on_both_databases, patched, path, read, text, touched,
};
use crate::support::TestServer;

/// Puts texts with tags into an agent's archive.
async fn remember(server: &TestServer, agent: &Value, texts: &[(&str, &[&str])]) -> Vec<Value> {
    let mut passages = Vec::new();
    for (content, tags) in texts {
        let body = json!({ "text": content, "tags": tags });
        let made = made(server, &format!("{}/archival-memory", path(agent)), &body).await;
        passages.push(made[0].clone());
    }
    passages
}

#[tokio::test]
async fn an_agent_gets_an_archive_with_its_first_passage() {
    for server in on_both_databases().await {
        let agent = agent(&server, json!({ "name": "Ada" })).await;
        let memory = format!("{}/archival-memory", path(&agent));
        assert_eq!(read(&server, &memory).await, json!([]));
        let body = json!({ "text": "Tea at five.", "tags": ["a", "a"], "created_at": "2024-05-01T10:00:00+02:00" });
        let first = made(&server, &memory, &body).await;
        assert_eq!(first.as_array().unwrap().len(), 1);
        let passage = &first[0];
        for (field, expected) in [
            ("text", json!("Tea at five.")),
            ("tags", json!(["a"])),
            ("created_at", json!("2024-05-01T08:00:00.000000Z")),
            ("embedding", json!(null)),
            ("embedding_config", json!(null)),
            ("metadata", json!({})),
            ("is_deleted", json!(false)),
            ("source_id", json!(null)),
            ("file_id", json!(null)),
        ] {
            assert_eq!(passage[field], expected, "{field}");
        }
        let archive = read(
            &server,
            &format!("/v1/archives/{}", text(&passage["archive_id"])),
        )
        .await;
        assert_eq!(
            (
                &archive["name"],
                &archive["description"],
                &archive["vector_db_provider"]
            ),
            (
                &json!("Ada's Archive"),
                &json!("Default archive created automatically"),
                &json!("native")
            )
        );
        remember(&server, &agent, &[("Wine at ten.", &[])]).await;
        let list = read(&server, &memory).await;
        assert_eq!(each(&list, "text"), ["Tea at five.", "Wine at ten."]);
        assert_eq!(list[0]["archive_id"], list[1]["archive_id"]);
    }
}

#[tokio::test]
async fn passages_are_listed_searched_and_deleted() {
    for server in on_both_databases().await {
        let agent = agent(&server, json!({})).await;
        let passages = remember(
            &server,
            &agent,
            &[
                ("Ada drinks tea in London", &["drink", "city"]),
                ("Bo drinks wine", &["drink"]),
                ("The tower of Pisa leans", &["city"]),
            ],
        )
        .await;
        let memory = format!("{}/archival-memory", path(&agent));
        for (query, expected) in [
            ("", &[0, 1, 2][..]),
            ("ascending=false", &[2, 1, 0]),
            ("limit=1", &[0]),
            ("search=DRINKS", &[0, 1]),
        ] {
            let list = read(&server, &format!("{memory}?{query}")).await;
            let expected: Vec<_> = expected
                .iter()
                .map(|at: &usize| text(&passages[*at]["id"]))
                .collect();
            assert_eq!(each(&list, "id"), expected, "{query}");
        }
        let after = format!("{memory}?after={}", text(&passages[0]["id"]));
        assert_eq!(read(&server, &after).await.as_array().unwrap().len(), 2);
        for (query, expected) in [
            ("query=drinks tea", &[0, 1][..]),
            ("query=drinks&tags=city", &[0]),
            ("query=tower&tags=drink&tags=city", &[2]),
            ("query=drinks&tags=drink&tags=city&tag_match_mode=all", &[0]),
            ("query=drinks&top_k=1", &[1]),
            ("query=leans&end_datetime=2020-01-01", &[]),
            ("query=leans&start_datetime=2020-01-01", &[2]),
            ("query=nowhere", &[]),
        ] {
            let found = read(&server, &format!("{memory}/search?{query}")).await;
            let expected: Vec<_> = expected
                .iter()
                .map(|at: &usize| text(&passages[*at]["id"]))
                .collect();
            assert_eq!(each(&found["results"], "id"), expected, "{query}");
            assert_eq!(found["count"], expected.len());
        }
        let found = read(&server, &format!("{memory}/search?query=tower")).await;
        let found = &found["results"][0];
        assert_eq!(
            (&found["content"], &found["tags"]),
            (&passages[2]["text"], &json!(["city"]))
        );
        assert!(text(&found["timestamp"]).ends_with("+00:00"), "{found}");

        let one = format!("{memory}/{}", text(&passages[0]["id"]));
        let deleted = server.delete(&one).await;
        let expected = format!(
            "Memory id={} successfully deleted",
            text(&passages[0]["id"])
        );
        assert_eq!(deleted.body, json!({ "message": expected }));
        assert_eq!(detail(&server.delete(&one).await).0, 404);
        assert_eq!(
            detail(&server.delete(&format!("{memory}/nonsense")).await).0,
            404
        );
    }
}

#[tokio::test]
async fn archives_are_made_changed_listed_and_deleted() {
    for server in on_both_databases().await {
        let first = made(&server, "/v1/archives/", &json!({ "name": "A" })).await;
        let second = made(
            &server,
            "/v1/archives/",
            &json!({ "name": "B", "description": "d" }),
        )
        .await;
        assert_eq!(
            (&first["description"], &first["embedding_config"]),
            (&json!(null), &json!(null))
        );
        let one = format!("/v1/archives/{}", text(&second["id"]));
        assert_eq!(read(&server, &one).await, second);
        let changed = patched(&server, &one, &json!({ "name": "C", "description": null })).await;
        assert_eq!(
            (&changed["name"], &changed["description"]),
            (&json!("C"), &json!("d"))
        );
        let agent = agent(&server, json!({})).await;
        let attach = |id: &Value| format!("{}/archives/attach/{}", path(&agent), text(id));
        assert_eq!(touched(&server, &attach(&second["id"])).await.text, "null");
        assert_eq!(touched(&server, &attach(&second["id"])).await.status, 200);
        assert_eq!(
            detail(&touched(&server, &attach(&first["id"])).await).0,
            409
        );
        for (query, expected) in [
            (String::new(), &["C", "A"][..]),
            ("order=asc".to_owned(), &["A", "C"]),
            ("name=A".to_owned(), &["A"]),
            (format!("agent_id={}", text(&agent["id"])), &["C"]),
            ("agent_id=nonsense".to_owned(), &[]),
            (format!("after={}", text(&second["id"])), &["A"]),
        ] {
            let list = read(&server, &format!("/v1/archives/?{query}")).await;
            assert_eq!(each(&list, "name"), expected, "{query}");
        }
        let agents = read(&server, &format!("{one}/agents")).await;
        assert_eq!(agents[0]["id"], agent["id"]);
        let detach = format!("{}/archives/detach/{}", path(&agent), text(&second["id"]));
        assert_eq!(touched(&server, &detach).await.text, "null");
        let deleted = server.delete(&one).await;
        assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
        let gone = format!(
            "Archive not found with id='['{}']', access level in ['read'] for actor='user-00000000-0000-4000-8000-000000000000'",
            text(&second["id"])
        );
        assert_eq!(detail(&server.get(&one).await), (404, &*gone));
        assert_eq!(detail(&server.delete(&one).await), (404, &*gone));
    }
}

#[tokio::test]
async fn passages_of_an_archive_are_made_at_once_and_searched_everywhere() {
    for server in on_both_databases().await {
        let archive = made(&server, "/v1/archives/", &json!({ "name": "A" })).await;
        let passages = format!("/v1/archives/{}/passages", text(&archive["id"]));
        let one = json!({ "text": "red fox", "metadata": { "n": 1 }, "tags": ["x"] });
        let one = made(&server, &passages, &one).await;
        assert_eq!(
            (&one["metadata"], &one["archive_id"]),
            (&json!({ "n": 1 }), &archive["id"])
        );
        let batch = json!({ "passages": [{ "text": "red hen" }, { "text": "blue whale" }] });
        let many = made(&server, &format!("{passages}/batch"), &batch).await;
        assert_eq!(each(&many, "text"), ["red hen", "blue whale"]);
        let agent = agent(&server, json!({})).await;
        remember(&server, &agent, &[("red dwarf", &[])]).await;
        for (body, expected) in [
            (json!({ "query": "red" }), 3),
            (json!({ "query": "red fox", "limit": 1 }), 1),
            (json!({ "query": "red", "archive_id": archive["id"] }), 2),
            (json!({ "query": "red", "agent_id": agent["id"] }), 1),
            (json!({ "tags": ["x"], "tag_match_mode": "all" }), 1),
            (json!({}), 4),
            (json!({ "query": "red", "end_date": "2020-01-01" }), 0),
        ] {
            let found = made(&server, "/v1/passages/search", &body).await;
            assert_eq!(found.as_array().unwrap().len(), expected, "{body}");
        }
        let best = made(
            &server,
            "/v1/passages/search",
            &json!({ "query": "red fox" }),
        )
        .await;
        assert_eq!(
            (&best[0]["passage"]["id"], &best[0]["score"]),
            (&one["id"], &json!(1.0))
        );
        let path = format!("{passages}/{}", text(&one["id"]));
        assert_eq!(server.delete(&path).await.status, 204);
        assert_eq!(detail(&server.delete(&path).await).0, 404);
        let limit = server
            .post("/v1/passages/search", &json!({ "limit": 101 }))
            .await;
        assert!(detail(&limit).1.contains("less than or equal to 100"));
        let unknown = format!("/v1/archives/archive-{NOBODY}/passages");
        assert_eq!(
            super::post_detail(&server, &unknown, &json!({ "text": "x" }))
                .await
                .0,
            404
        );
    }
}
