//! What tools from source see of the variables.

use serde_json::{Value, json};

use super::{ok, path_of, servers, variables_of};
use crate::support::{TestServer, has_python};

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
        // Deleting the configuration deletes its variables.
        save("SERVICE", "again").await;
        assert_eq!(seen(&server, "SERVICE", json!({})).await, "again");
        let config = path.trim_end_matches("/environment-variable");
        assert_eq!(server.delete(config).await.status, 204);
        assert_eq!(seen(&server, "SERVICE", json!({})).await, "nothing");
    }
}
