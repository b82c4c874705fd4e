//! The older name of folders.

use serde_json::json;

use super::{completed, embedding, touched, upload};
use crate::{
    clients::{agent, each, made, patched, read, text},
    support::TestServer,
};

#[tokio::test]
async fn a_source_is_a_folder() {
    let server = TestServer::start().await;
    let body = json!({ "name": "docs", "embedding_config": embedding() });
    let source = made(&server, "/v1/sources/", &body).await;
    assert_eq!(source["vector_db_provider"], "native");
    let id = text(&source["id"]);
    let path = format!("/v1/sources/{id}");
    assert_eq!(read(&server, &path).await, source);
    let folder = read(&server, &format!("/v1/folders/{id}")).await;
    assert_eq!(folder["name"], "docs");
    assert_eq!(each(&read(&server, "/v1/sources/").await, "id"), [id]);
    assert_eq!(read(&server, "/v1/sources/count").await, json!(1));
    assert_eq!(read(&server, "/v1/sources/name/docs").await, json!(id));
    let numbers = read(&server, "/v1/sources/metadata").await;
    assert_eq!(numbers["total_sources"], 1);
    let changed = patched(&server, &path, &json!({ "description": "mine" })).await;
    assert_eq!(changed["description"], "mine");

    let answer = upload(&server, &format!("{path}/upload"), "a.txt", b"text").await;
    let file = text(&answer.body["id"]).to_owned();
    completed(&server, id, &file).await;
    let files = read(&server, &format!("{path}/files?include_content=true")).await;
    assert_eq!(each(&files, "content"), ["text"]);
    let one = read(&server, &format!("{path}/files/{file}")).await;
    assert_eq!(one["file_name"], "a.txt");
    let passages = read(&server, &format!("{path}/passages")).await;
    assert_eq!(each(&passages, "text"), ["text"]);

    let agent = agent(&server, json!({})).await;
    let of_agent = |rest: &str| format!("/v1/agents/{agent}/sources{rest}");
    let attached = touched(&server, &of_agent(&format!("/attach/{id}"))).await;
    assert_eq!(each(&attached.body["sources"], "id"), [id]);
    let agents = read(&server, &format!("{path}/agents")).await;
    assert_eq!(agents, json!([agent]));
    assert_eq!(each(&read(&server, &of_agent("")).await, "id"), [id]);
    let detached = touched(&server, &of_agent(&format!("/detach/{id}"))).await;
    assert_eq!(detached.body["sources"], json!([]));

    let deleted = server.delete(&format!("{path}/{file}")).await;
    assert_eq!(deleted.status, 204);
    assert_eq!(server.delete(&path).await.status, 200);
    assert_eq!(read(&server, "/v1/sources/count").await, json!(0));
}
