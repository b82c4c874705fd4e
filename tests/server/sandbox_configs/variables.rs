//! Variables: saved, listed, changed, deleted, refused, and kept sealed.

use serde_json::json;

use super::{
    CONFIGS, DEFAULT_USER, ORGANIZATION, UNKNOWN, assert_missing, ids, ok, path_of, refused,
    servers, variables_of,
};
use crate::support::TestServer;

#[tokio::test]
async fn variables_are_saved_listed_changed_and_deleted() {
    for server in servers().await {
        let path = variables_of(&server).await;
        let body = json!({ "key": "TOKEN", "value": "a=b\n🦀", "description": "of a service" });
        let first = ok(server.post(&path, &body).await);
        let id = first["id"].as_str().unwrap();
        assert!(id.starts_with("sandbox-env-"), "{id}");
        let config_id = path.split('/').nth(3).unwrap();
        let expected = json!({
            "id": id, "key": "TOKEN", "value": "a=b\n🦀", "description": "of a service",
            "value_enc": null, "sandbox_config_id": config_id, "organization_id": ORGANIZATION,
            "created_by_id": DEFAULT_USER, "last_updated_by_id": DEFAULT_USER,
            "created_at": first["created_at"], "updated_at": first["created_at"],
        });
        assert_eq!(first, expected);
        // The key again is the same variable.
        let again = ok(server
            .post(&path, &json!({ "key": "TOKEN", "value": "" }))
            .await);
        assert_eq!((&again["id"], &again["value"]), (&first["id"], &json!("")));
        let other = ok(server
            .post(
                &path,
                &json!({ "key": "OTHER", "value": "o", "description": null }),
            )
            .await);
        assert_eq!(ok(server.get(&path).await), json!([again, other]));
        // Only what is given changes, and null is nothing.
        let body = json!({ "value": "p", "key": null });
        let changed = ok(server.patch(&path_of(&other), &body).await);
        assert_eq!(
            (&changed["key"], &changed["value"]),
            (&json!("OTHER"), &json!("p"))
        );
        let body = json!({ "key": "THIRD", "description": "renamed" });
        let changed = ok(server.patch(&path_of(&other), &body).await);
        assert_eq!(
            (&changed["key"], &changed["value"]),
            (&json!("THIRD"), &json!("p"))
        );
        assert_eq!(
            (&changed["description"], &changed["created_at"]),
            (&json!("renamed"), &other["created_at"])
        );
        let taken = server
            .patch(&path_of(&other), &json!({ "key": "TOKEN" }))
            .await;
        assert_eq!(
            refused(&taken),
            (
                409,
                "SandboxEnvironmentVariable with key TOKEN already exists in this configuration"
            )
        );
        assert_eq!(taken.headers["x-should-retry"], "false");
        assert_eq!(ok(server.get(&path).await), json!([again, changed]));
        let deleted = server.delete(&path_of(&first)).await;
        assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
        assert_eq!(ok(server.get(&path).await), json!([changed]));
        // The others go with their configuration.
        let config = format!("{CONFIGS}{config_id}");
        assert_eq!(server.delete(&config).await.status, 204);
        for path in [path_of(&first), path_of(&other)] {
            let changed = server.patch(&path, &json!({ "value": "x" })).await;
            assert_missing(&changed, "SandboxEnvironmentVariable");
            assert_missing(&server.delete(&path).await, "SandboxEnvironmentVariable");
        }
        for answer in [
            server.get(&path).await,
            server
                .post(&path, &json!({ "key": "A", "value": "" }))
                .await,
        ] {
            assert_missing(&answer, "SandboxConfig");
        }
    }
}

#[tokio::test]
async fn a_list_of_variables_is_read_page_by_page() {
    for server in servers().await {
        let path = variables_of(&server).await;
        let mut saved = Vec::new();
        for at in 0..5 {
            let body = json!({ "key": format!("KEY_{at}"), "value": at.to_string() });
            saved.push(
                ok(server.post(&path, &body).await)["id"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            );
        }
        assert_eq!(ids(server.get(&path).await), saved);
        let (mut read, mut query) = (Vec::new(), "?limit=2".to_owned());
        loop {
            let page = ids(server.get(&format!("{path}{query}")).await);
            let Some(last) = page.last() else { break };
            assert!(page.len() <= 2);
            query = format!("?limit=2&after={last}&sandbox_type=ignored");
            read.extend(page);
        }
        assert_eq!(read, saved);
        let answer = server
            .get(&format!("{path}?after=sandbox-env-{UNKNOWN}"))
            .await;
        assert_missing(&answer, "SandboxEnvironmentVariable");
        assert_eq!(
            refused(&server.get(&format!("{path}?limit=two")).await).0,
            422
        );
    }
}

#[tokio::test]
async fn malformed_variables_and_ids_are_refused() {
    for server in servers().await {
        let path = variables_of(&server).await;
        for (body, fault) in [
            (json!({}), "'loc': ('body', 'key'), 'msg': 'Field required'"),
            (
                json!({ "key": "A" }),
                "'loc': ('body', 'value'), 'msg': 'Field required'",
            ),
            (
                json!({ "key": "A", "value": 1 }),
                "'loc': ('body', 'value'), 'msg': 'Input should be a valid string'",
            ),
            (
                json!({ "key": null, "value": "" }),
                "'loc': ('body', 'key')",
            ),
            (
                json!({ "key": "A", "value": "", "id": "x" }),
                "Extra inputs are not permitted",
            ),
            (json!({ "key": "", "value": "" }), "key is empty"),
            (
                json!({ "key": "A=B", "value": "" }),
                "contains an equals sign",
            ),
            (
                json!({ "key": "A\0", "value": "" }),
                "contains a NUL character",
            ),
            (
                json!({ "key": "A", "value": "\0" }),
                "contains a NUL character",
            ),
            (
                json!({ "key": "A".repeat(513), "value": "" }),
                "over its limit of 512",
            ),
            (
                json!({ "key": "A", "value": "x".repeat((64 << 10) + 1) }),
                "over its limit of 65536",
            ),
        ] {
            let answer = server.post(&path, &body).await;
            let (status, detail) = refused(&answer);
            assert_eq!(status, 422, "{answer:?}");
            assert!(detail.contains(fault), "{detail}");
        }
        assert_eq!(ok(server.get(&path).await), json!([]));
        let saved = ok(server
            .post(&path, &json!({ "key": "A", "value": "a" }))
            .await);
        for body in [
            json!({ "key": "" }),
            json!({ "key": "A=B" }),
            json!({ "value": 1 }),
            json!({ "other": 1 }),
        ] {
            let answer = server.patch(&path_of(&saved), &body).await;
            assert_eq!(refused(&answer).0, 422, "{answer:?}");
        }
        assert_eq!(ok(server.get(&path).await), json!([saved]));
        let body = json!({ "key": "A", "value": "" });
        for id in [
            "x",
            "sandbox-",
            "sandbox-env-",
            &format!("block-{UNKNOWN}"),
            &format!("sandbox-env-{UNKNOWN}"),
        ] {
            let (config, variables) = (
                format!("{CONFIGS}{id}"),
                format!("{CONFIGS}{id}/environment-variable"),
            );
            for answer in [
                server.patch(&config, &json!({})).await,
                server.delete(&config).await,
                server.get(&variables).await,
                server.post(&variables, &body).await,
            ] {
                let (status, detail) = refused(&answer);
                assert_eq!(status, 422, "{answer:?}");
                assert!(
                    detail.contains("'loc': ('path', 'sandbox_config_id')"),
                    "{detail}"
                );
                assert_eq!(answer.body["examples"].as_array().unwrap().len(), 1);
            }
            let variable = format!("{CONFIGS}environment-variable/{id}");
            assert_eq!(refused(&server.delete(&variable).await).0, 404, "{id}");
            assert_eq!(
                refused(&server.patch(&variable, &json!({})).await).0,
                404,
                "{id}"
            );
        }
    }
}

#[tokio::test]
async fn values_and_configurations_survive_a_restart_and_are_not_on_the_disk_in_clear() {
    const SECRET: &str = "sk-very-secret-0123456789";
    let mut server = TestServer::start().await;
    let path = variables_of(&server).await;
    let saved = ok(server
        .post(&path, &json!({ "key": "TOKEN", "value": SECRET }))
        .await);
    server.shutdown().await;
    for name in ["bulkhead.db", "bulkhead.db-wal"] {
        let bytes = std::fs::read(server.data_dir().join(name)).unwrap_or_default();
        let found = bytes
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes());
        assert!(!found, "{name}");
    }
    server.restart_in_place().await;
    assert_eq!(ok(server.get(&path).await), json!([saved]));
}
