//! The one configuration: saved, listed, changed, deleted, refused.

use serde_json::{Value, json};

use super::{
    CONFIGS, DEFAULT_USER, ORGANIZATION, UNKNOWN, assert_missing, ids, ok, refused, saved_id,
    servers,
};
use crate::support::TestServer;

#[tokio::test]
async fn there_is_one_configuration_which_every_way_to_save_it_replaces() {
    for server in servers().await {
        assert_eq!(ok(server.get(CONFIGS).await), json!([]));
        let first = ok(server
            .post("/v1/sandbox-config/local/default", &json!({}))
            .await);
        let id = first["id"].as_str().unwrap();
        let expected = json!({
            "id": id, "type": "local", "organization_id": ORGANIZATION,
            "created_by_id": DEFAULT_USER, "last_updated_by_id": DEFAULT_USER,
            "created_at": first["created_at"], "updated_at": first["created_at"],
            "config": { "sandbox_dir": null, "use_venv": false, "venv_name": "venv", "pip_requirements": [] },
        });
        assert_eq!(first, expected);
        assert!(first["created_at"].as_str().unwrap().ends_with('Z'));
        for path in ["local/default", "local/recreate-venv"] {
            assert_eq!(
                ok(server.post(&format!("{CONFIGS}{path}"), &json!({})).await),
                first
            );
        }
        let requirement = json!({ "name": "example", "version": "1.0" });
        let config =
            json!({ "sandbox_dir": "/tmp/é", "use_venv": true, "pip_requirements": [requirement] });
        let full = json!({
            "sandbox_dir": "/tmp/é", "use_venv": true, "venv_name": "venv", "pip_requirements": [requirement],
        });
        let saved = ok(server.post("/v1/sandbox-config/local", &config).await);
        assert_eq!((&saved["id"], &saved["config"]), (&first["id"], &full));
        assert_eq!(saved["created_at"], first["created_at"]);
        let config = json!({ "config": { "venv_name": "other" } });
        let saved = ok(server.post(CONFIGS, &config).await);
        assert_eq!(saved["id"], first["id"]);
        let mut expected = first["config"].clone();
        expected["venv_name"] = "other".into();
        assert_eq!(saved["config"], expected);
        assert_eq!(ok(server.get(CONFIGS).await), json!([saved]));
    }
}

#[tokio::test]
async fn a_configuration_is_changed_and_deleted_by_its_id() {
    for server in servers().await {
        let first = ok(server.post(CONFIGS, &json!({ "config": {} })).await);
        let path = format!("{CONFIGS}{}", first["id"].as_str().unwrap());
        assert_eq!(ok(server.patch(&path, &json!({})).await), first);
        let config = json!({ "config": { "use_venv": "yes" } });
        let changed = ok(server.patch(&path, &config).await);
        assert_eq!(changed["config"]["use_venv"], true);
        assert_eq!(changed["created_at"], first["created_at"]);
        assert_ne!(changed["updated_at"], first["updated_at"]);
        assert_eq!(ok(server.get(CONFIGS).await), json!([changed]));
        let deleted = server.delete(&path).await;
        assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
        assert_eq!(ok(server.get(CONFIGS).await), json!([]));
        for answer in [
            server.delete(&path).await,
            server.patch(&path, &config).await,
            server.patch(&path, &json!({})).await,
        ] {
            assert_missing(&answer, "SandboxConfig");
        }
    }
}

#[tokio::test]
async fn requests_at_the_same_time_make_one_configuration() {
    for server in servers().await {
        let asks = (0..8).map(|_| server.post("/v1/sandbox-config/local/default", &Value::Null));
        let answers = futures::future::join_all(asks).await;
        let first = ok(server.get(CONFIGS).await)[0].clone();
        for answer in answers {
            assert_eq!(ok(answer), first);
        }
    }
}

#[tokio::test]
async fn a_list_of_configurations_is_filtered_and_paged() {
    for server in servers().await {
        let id = saved_id(&server).await;
        for (query, expected) in [
            ("", 1),
            ("?limit=1000&sandbox_type=local&other=1", 1),
            ("?limit=0", 0),
            ("?limit=99999999999999999999", 1),
            ("?sandbox_type=e2b", 0),
            ("?sandbox_type=cloud", 422),
            ("?limit=-1", 422),
            (&format!("?after={id}"), 0),
            (&format!("?after=sandbox-{UNKNOWN}"), 404),
            ("?after=", 422),
            ("?after=%00", 422),
        ] {
            let answer = server.get(&format!("{CONFIGS}{query}")).await;
            if expected < 10 {
                assert_eq!(ids(answer).len(), expected, "{query}");
            } else {
                assert_eq!(usize::from(refused(&answer).0), expected, "{query}");
            }
        }
        let answer = server
            .get(&format!("{CONFIGS}?sandbox_type=cloud&limit=x"))
            .await;
        assert_eq!(
            refused(&answer).1,
            "[{'type': 'enum', 'loc': ('query', 'sandbox_type'), 'msg': \"Input should be 'e2b', 'modal' or 'local'\", 'input': 'cloud', 'ctx': {'expected': \"'e2b', 'modal' or 'local'\"}}, {'type': 'int_parsing', 'loc': ('query', 'limit'), 'msg': 'Input should be a valid integer, unable to parse string as an integer', 'input': 'x'}]"
        );
    }
}

#[tokio::test]
async fn a_sandbox_that_is_not_there_is_refused_by_name() {
    let server = TestServer::start().await;
    let mut answers = vec![
        server
            .post("/v1/sandbox-config/e2b/default", &Value::Null)
            .await,
    ];
    for config in [
        json!({ "timeout": 300, "template": null, "pip_requirements": null }),
        json!({ "language": "typescript" }),
        json!({ "npm_requirements": ["left-pad"] }),
    ] {
        answers.push(server.post(CONFIGS, &json!({ "config": config })).await);
    }
    for answer in answers {
        let (status, detail) = refused(&answer);
        assert_eq!(status, 400, "{answer:?}");
        assert!(detail.contains("one sandbox, the local one"), "{detail}");
    }
    assert_eq!(ok(server.get(CONFIGS).await), json!([]));
}

#[tokio::test]
async fn bodies_of_configurations_that_fit_nothing_are_refused_with_their_faults() {
    let server = TestServer::start().await;
    let id = saved_id(&server).await;
    let before = ok(server.get(CONFIGS).await);
    for (body, fault) in [
        (
            json!({}),
            "'loc': ('body', 'config'), 'msg': 'Field required'",
        ),
        (
            json!({ "config": {}, "type": "local" }),
            "'loc': ('body', 'type'), 'msg': 'Extra inputs are not permitted'",
        ),
        (json!({ "config": [] }), "model_attributes_type"),
        (json!({ "config": null }), "model_attributes_type"),
        (
            json!({ "config": { "pip_requirements": [{ "version": "1" }] } }),
            "'loc': ('body', 'config', 'LocalSandboxConfig', 'pip_requirements', 0, 'name'), 'msg': 'Field required'",
        ),
    ] {
        let answer = server.post(CONFIGS, &body).await;
        let (status, detail) = refused(&answer);
        assert_eq!(status, 422, "{answer:?}");
        assert!(detail.contains(fault), "{detail}");
    }
    for body in [json!([]), json!("config")] {
        let answer = server.post(CONFIGS, &body).await;
        let (status, detail) = refused(&answer);
        assert_eq!(status, 422, "{answer:?}");
        assert!(
            detail.contains("'type': 'model_attributes_type', 'loc': ('body',)"),
            "{detail}"
        );
    }
    for config in [
        json!({ "sandbox_dir": 5 }),
        json!({ "use_venv": "perhaps" }),
        json!({ "pip_requirements": ["example"] }),
    ] {
        let bodies = json!({ "config": config });
        for answer in [
            server.post(CONFIGS, &bodies).await,
            server.patch(&format!("{CONFIGS}{id}"), &bodies).await,
        ] {
            let (status, detail) = refused(&answer);
            assert_eq!(status, 400, "{answer:?}");
            assert!(
                detail.contains("config does not fit the local sandbox"),
                "{detail}"
            );
        }
        let answer = server.post("/v1/sandbox-config/local", &config).await;
        assert_eq!(refused(&answer).0, 422, "{answer:?}");
    }
    let large = json!({ "sandbox_dir": "x".repeat(300 << 10) });
    let answer = server.post("/v1/sandbox-config/local", &large).await;
    assert_eq!(answer.refusal(), (422, "invalid_parameter"));
    assert_eq!(ok(server.get(CONFIGS).await), before);
}
