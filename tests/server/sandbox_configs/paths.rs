//! Clients and people write paths with and without a slash at the end.

use serde_json::json;

use super::{CONFIGS, ids, ok, path_of, variables_of};
use crate::support::TestServer;

#[tokio::test]
async fn every_path_is_answered_with_and_without_a_slash_at_the_end() {
    let server = TestServer::start().await;
    let path = variables_of(&server).await;
    let id = path.split('/').nth(3).unwrap();
    for slash in ["", "/"] {
        assert_eq!(
            ids(server.get(&format!("/v1/sandbox-config{slash}")).await),
            [id]
        );
        for (rest, body) in [
            ("", json!({ "config": {} })),
            ("/local", json!({})),
            ("/local/default", json!({})),
            ("/local/recreate-venv", json!({})),
        ] {
            let path = format!("/v1/sandbox-config{rest}{slash}");
            assert_eq!(ok(server.post(&path, &body).await)["id"], id, "{path}");
        }
        assert_eq!(
            server
                .post(
                    &format!("/v1/sandbox-config/e2b/default{slash}"),
                    &json!({})
                )
                .await
                .status,
            400
        );
        ok(server
            .patch(&format!("{CONFIGS}{id}{slash}"), &json!({}))
            .await);
        let variable = ok(server
            .post(
                &format!("{path}{slash}"),
                &json!({ "key": "A", "value": "a" }),
            )
            .await);
        assert_eq!(ids(server.get(&format!("{path}{slash}")).await).len(), 1);
        let variable = format!("{}{slash}", path_of(&variable));
        ok(server.patch(&variable, &json!({ "value": "b" })).await);
        assert_eq!(server.delete(&variable).await.status, 204);
    }
    assert_eq!(server.delete(&format!("{CONFIGS}{id}/")).await.status, 204);
}
