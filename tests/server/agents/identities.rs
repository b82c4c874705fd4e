//! To whom agents and blocks belong.

use serde_json::{Value, json};

use super::{
    NOBODY, agent, detail, each, made, on_both_databases, patched, path, read, text, touched,
};
use crate::support::{Answer, TestServer};

async fn put(server: &TestServer, path: &str, body: &Value) -> Answer {
    let request = server.request(reqwest::Method::PUT, path).json(body);
    Answer::read(request.send().await.unwrap()).await
}

#[tokio::test]
async fn an_identity_is_made_changed_found_and_deleted() {
    for server in on_both_databases().await {
        let agent = agent(&server, json!({})).await;
        let block = made(
            &server,
            "/v1/blocks/",
            &json!({ "label": "a", "value": "b" }),
        )
        .await;
        let values = json!([
            { "key": "n", "value": 1.5, "type": "number" },
            { "key": "ok", "value": true, "type": "boolean" },
            { "key": "more", "value": { "x": [1] }, "type": "json" },
        ]);
        let body = json!({
            "identifier_key": "ada", "name": "Ada", "identity_type": "user",
            "agent_ids": [agent["id"]], "block_ids": [block["id"]], "properties": values,
        });
        let identity = made(&server, "/v1/identities/", &body).await;
        for (field, expected) in body.as_object().unwrap() {
            assert_eq!(identity[field], *expected, "{field}");
        }
        assert_eq!(
            identity["organization_id"],
            "org-00000000-0000-4000-8000-000000000000"
        );
        let one = format!("/v1/identities/{}", text(&identity["id"]));
        assert_eq!(read(&server, &one).await, identity);
        let of_agent = read(
            &server,
            &format!("{}?include=agent.identities", path(&agent)),
        )
        .await;
        assert_eq!(of_agent["identity_ids"], json!([identity["id"]]));
        assert_eq!(
            read(&server, &format!("{one}/agents")).await[0]["id"],
            agent["id"]
        );
        assert_eq!(
            read(&server, &format!("{one}/blocks")).await[0]["id"],
            block["id"]
        );

        let taken = server.post("/v1/identities/", &body).await;
        let (status, text_) = detail(&taken);
        assert_eq!(status, 409);
        assert!(
            text_.starts_with("A unique constraint was violated for Identity."),
            "{text_}"
        );

        let upsert =
            json!({ "identifier_key": "ada", "name": "Countess", "identity_type": "other" });
        let after = put(&server, "/v1/identities/", &upsert).await.body;
        assert_eq!(
            (&after["id"], &after["name"]),
            (&identity["id"], &json!("Countess"))
        );
        assert_eq!(after["agent_ids"], json!([agent["id"]]));
        let property = json!([{ "key": "n", "value": 2, "type": "number" }]);
        let after = put(&server, &format!("{one}/properties"), &property)
            .await
            .body;
        assert_eq!(after["properties"].as_array().unwrap().len(), 3);
        let change = json!({ "name": "Lovelace", "agent_ids": [], "identifier_key": null });
        let after = patched(&server, &one, &change).await;
        assert_eq!(
            (
                &after["name"],
                &after["agent_ids"],
                &after["identifier_key"]
            ),
            (&json!("Lovelace"), &json!([]), &json!("ada"))
        );
        assert_eq!(after["block_ids"], json!([block["id"]]));
        assert_eq!(server.delete(&one).await.body, json!(null));
        assert_eq!(detail(&server.get(&one).await).0, 404);
        assert_eq!(server.get(&path(&agent)).await.status, 200);
    }
}

#[tokio::test]
async fn identities_are_listed_by_filters_and_counted() {
    for server in on_both_databases().await {
        for (key, name, kind, project) in [
            ("a", "Ada", "user", json!(null)),
            ("b", "Bo", "user", json!("p")),
            ("c", "Acme", "org", json!(null)),
        ] {
            let body = json!({
                "identifier_key": key, "name": name, "identity_type": kind, "project_id": project,
            });
            made(&server, "/v1/identities/", &body).await;
        }
        for (query, expected) in [
            ("", &["c", "b", "a"][..]),
            ("order=asc&limit=2", &["a", "b"]),
            ("identity_type=user", &["b", "a"]),
            ("identifier_key=c", &["c"]),
            ("project_id=p", &["b"]),
            ("name=Ada", &["a"]),
        ] {
            let list = read(&server, &format!("/v1/identities/?{query}")).await;
            assert_eq!(each(&list, "identifier_key"), expected, "{query}");
        }
        assert_eq!(read(&server, "/v1/identities/count").await, 3);
        let wrong = server.get("/v1/identities/?identity_type=dog").await;
        assert!(
            detail(&wrong)
                .1
                .contains("Input should be 'org', 'user' or 'other'")
        );
    }
}

#[tokio::test]
async fn an_agent_is_given_to_an_identity_and_taken_away() {
    let server = TestServer::start().await;
    let agent = agent(&server, json!({})).await;
    let body = json!({ "identifier_key": "a", "name": "Ada", "identity_type": "user" });
    let identity = made(&server, "/v1/identities/", &body).await;
    let change = |what: &str, id: &str| format!("{}/identities/{what}/{id}", path(&agent));
    for (what, expected) in [
        ("attach", json!([identity["id"]])),
        ("attach", json!([identity["id"]])),
        ("detach", json!([])),
        ("detach", json!([])),
    ] {
        let answer = touched(&server, &change(what, text(&identity["id"]))).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text.as_str()),
            (200, "null")
        );
        let of_agent = read(
            &server,
            &format!("{}?include=agent.identities", path(&agent)),
        )
        .await;
        assert_eq!(of_agent["identity_ids"], expected);
    }
    let unknown = touched(&server, &change("attach", &format!("identity-{NOBODY}"))).await;
    assert_eq!(detail(&unknown).0, 404);
    let body = json!({ "model": super::SCRIPTED, "identity_ids": [format!("identity-{NOBODY}")] });
    assert_eq!(
        super::post_detail(&server, "/v1/agents/", &body).await.0,
        409
    );
}
