//! What clients set up for all tools from source: one configuration, its variables, and who sees them.

use bulkhead_store::testing::Kind;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, has_python};

const CONFIGS: &str = "/v1/sandbox-config/";
const DEFAULT_USER: &str = "user-00000000-0000-4000-8000-000000000000";
const ORGANIZATION: &str = "org-00000000-0000-4000-8000-000000000000";
/// Well-formed, and of nothing.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// A server for each database that is there.
async fn servers() -> Vec<TestServer> {
    let mut servers = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        servers.extend(TestServer::start_kind(kind).await);
    }
    servers
}

/// The answer's object.
fn ok(answer: Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The status and the text of a refusal.
fn refused(answer: &Answer) -> (u16, &str) {
    let detail = answer.body["detail"].as_str().unwrap_or_default();
    assert!(!detail.is_empty(), "{answer:?}");
    (answer.status.as_u16(), detail)
}

/// The answer says that there is no such thing.
fn assert_missing(answer: &Answer, what: &str) {
    let (status, detail) = refused(answer);
    assert_eq!(status, 404, "{answer:?}");
    assert!(
        detail.starts_with(&format!("{what} not found with id='['sandbox-")),
        "{detail}"
    );
}

/// The ids of a list.
fn ids(answer: Answer) -> Vec<String> {
    let list = ok(answer);
    let ids = list.as_array().unwrap().iter().map(|entry| &entry["id"]);
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Saves the configuration and gives its id.
async fn saved_id(server: &TestServer) -> String {
    let saved = ok(server.post("/v1/sandbox-config/local", &json!({})).await);
    saved["id"].as_str().unwrap().to_owned()
}

/// Makes the configuration and gives the path of its variables.
async fn variables_of(server: &TestServer) -> String {
    let config = ok(server
        .post("/v1/sandbox-config/local/default", &json!({}))
        .await);
    format!(
        "{CONFIGS}{}/environment-variable",
        config["id"].as_str().unwrap()
    )
}

fn path_of(variable: &Value) -> String {
    format!(
        "{CONFIGS}environment-variable/{}",
        variable["id"].as_str().unwrap()
    )
}

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
            ("?limit=99999999999999999999", 422),
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
        assert_eq!(
            server.post(CONFIGS, &body).await.refusal(),
            (422, "invalid_body")
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

/// A tool that says what a variable holds.
const LOOK: &str = r#"
import os

def look(name: str) -> str:
    """Says what a variable of the environment holds.

    Args:
        name: Its name.
    """
    return os.environ.get(name, "nothing")
"#;

/// What a Python tool finds under this name, with these variables of the request.
async fn seen(server: &TestServer, name: &str, env_vars: Value) -> String {
    let body = json!({ "source_code": LOOK, "args": { "name": name }, "env_vars": env_vars });
    let returned = ok(server.post("/v1/tools/run", &body).await);
    assert_eq!(returned["status"], "success", "{returned}");
    returned["tool_return"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_tool_sees_the_variables_and_those_of_its_request_count_more() {
    if !has_python() {
        return;
    }
    for server in servers().await {
        assert_eq!(seen(&server, "SERVICE", json!({})).await, "nothing");
        let path = variables_of(&server).await;
        let save = async |key: &str, value: &str| {
            ok(server
                .post(&path, &json!({ "key": key, "value": value }))
                .await)
        };
        let service = save("SERVICE", "of the configuration").await;
        assert_eq!(
            seen(&server, "SERVICE", json!({})).await,
            "of the configuration"
        );
        let request = json!({ "SERVICE": "of the request", "OTHER": "o" });
        assert_eq!(
            seen(&server, "SERVICE", request.clone()).await,
            "of the request"
        );
        assert_eq!(seen(&server, "OTHER", request).await, "o");
        // The next call sees nothing of a former one's.
        assert_eq!(seen(&server, "OTHER", json!({})).await, "nothing");
        assert_eq!(
            seen(&server, "SERVICE", json!({})).await,
            "of the configuration"
        );
        ok(server
            .patch(&path_of(&service), &json!({ "value": "changed" }))
            .await);
        assert_eq!(seen(&server, "SERVICE", json!({})).await, "changed");
        // Who a tool is, is said by the server alone.
        for name in ["LETTA_AGENT_ID", "LETTA_TOOL_ID", "LETTA_PROJECT_ID"] {
            save(name, "forged").await;
            assert_eq!(
                seen(&server, name, json!({ name: "forged" })).await,
                "nothing",
                "{name}"
            );
        }
        assert_eq!(server.delete(&path_of(&service)).await.status, 204);
        assert_eq!(seen(&server, "SERVICE", json!({})).await, "nothing");
    }
}
