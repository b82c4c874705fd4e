//! Skills that a client names: the model is told of them in one request, and nothing of them is kept.

use serde_json::{Value, json};

use super::{agent, path, text};
use crate::{
    both::on_both,
    clients::{made, read},
    consistency::{agrees, history},
    conversations::begun,
    support::TestServer,
    vendor::{KEY, MODEL, Vendor},
};

const OPENING: &str = "<available_skills>";

/// The system prompt of the newest question to the vendor.
fn prompt(vendor: &Vendor) -> String {
    let asked = vendor.asked().pop().unwrap();
    let first = &asked["messages"][0];
    assert_eq!(first["role"], "system", "{asked}");
    text(&first["content"]).to_owned()
}

/// Sends a body that must be answered.
async fn answered(server: &TestServer, path: &str, body: &Value) {
    let answer = server.post(path, body).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
}

on_both! {
    async fn skills_of_a_client_are_in_the_prompt_of_their_request_alone(server) {
        let vendor = Vendor::start().await;
        let body = json!({
            "name": "mine", "provider_type": "openai", "api_key": KEY, "base_url": vendor.base_url,
        });
        made(&server, "/v1/providers/", &body).await;
        let agent = agent(&server, json!({ "model": format!("mine/{MODEL}") })).await;
        let conversation = format!("{}/messages", begun(&server, &agent).await);
        let skills = json!([
            { "name": "baking", "description": "How bread is made.", "location": "/skills/a.md" },
            { "name": "sewing", "description": "Of <needles> & \"thread\".", "location": "b.md" },
        ]);
        for (path, more) in [
            (path(&agent, ""), json!({})),
            (path(&agent, "/stream"), json!({ "stream_tokens": true })),
            (conversation, json!({ "streaming": false })),
        ] {
            let mut body = json!({ "input": "Who is there?", "client_skills": skills });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            answered(&server, &path, &body).await;
            let told = prompt(&vendor);
            let (before, section) = told.split_once(OPENING).unwrap();
            assert!(section.ends_with("</available_skills>"), "it is the end: {told}");
            for skill in skills.as_array().unwrap() {
                for field in ["name", "description", "location"] {
                    assert!(section.contains(text(&skill[field])), "{section}");
                }
            }
            body.as_object_mut().unwrap().remove("client_skills");
            answered(&server, &path, &body).await;
            assert_eq!(prompt(&vendor).trim_end(), before.trim_end());
        }
        let all = read(&server, &path(&agent, "?limit=1000")).await.to_string();
        let state = read(&server, &format!("/v1/agents/{agent}")).await.to_string();
        let own = history(&server, &agent).await.to_string();
        for kept in [all, state, own] {
            assert!(!kept.contains(OPENING) && !kept.contains("How bread is made"), "{kept}");
        }
        agrees(&server, &agent).await;
    }
}
