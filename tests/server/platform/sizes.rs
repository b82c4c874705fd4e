//! Bodies of fifty megabytes.

use reqwest::Method;
use serde_json::json;

use super::{PASSWORD, Person, ask, project_with_agent};
use crate::both::on_both;

on_both! {
    async fn a_body_of_fifty_megabytes_is_refused_for_its_size(server) {
        let ada = Person::new(&server, "ada").await;
        let body = json!({ "email": "a".repeat(50 << 20), "password": PASSWORD });
        for path in ["/api/v1/auth/register", "/api/v1/auth/login"] {
            assert_eq!(server.post(path, &body).await.refusal(), (413, "body_too_large"), "{path}");
        }
        let project = json!({ "name": "a".repeat(50 << 20), "slug": "p" });
        let refused = ada.post(&server, "/api/v1/projects", &project).await;
        assert_eq!(refused.refusal(), (413, "body_too_large"));
        assert_eq!(ada.get(&server, "/api/v1/projects").await.body["pagination"]["total"], 0);
    }

    async fn whose_fifty_megabytes_are_not_wanted_is_told_so_first(server) {
        let root = Person::superuser(&server, "root").await;
        let (ada, bob) = (Person::new(&server, "ada").await, Person::new(&server, "bob").await);
        let (project, agent) = project_with_agent(&server, (&root, &ada), "shop").await;
        let member = format!("{project}/members/{}", bob.email);
        ask(&server, Some(&ada.token), Method::PUT, &member, Some(&json!({ "role": "viewer" }))).await;
        let body = json!({ "name": "a".repeat(50 << 20), "slug": "p" });
        let projects = "/api/v1/projects".to_owned();
        let types = "/api/v1/agent-types".to_owned();
        for (token, path, expected) in [
            (None, projects.clone(), (401, "unauthorized")),
            (None, types.clone(), (401, "unauthorized")),
            (Some("eyJh.eyJz.c2ln"), projects, (401, "unauthorized")),
            (Some(ada.token.as_str()), types, (403, "forbidden")),
            (Some(&bob.token), format!("{project}/agents"), (403, "forbidden")),
            (Some(&bob.token), format!("{agent}/messages"), (403, "forbidden")),
            (Some(&ada.token), format!("{agent}/messages"), (413, "body_too_large")),
            (Some(&ada.token), "/v1/tools/".to_owned(), (403, "forbidden")),
            (Some(&ada.token), "/v1/agents/".to_owned(), (413, "body_too_large")),
            (Some(&ada.token), "/v1/blocks/".to_owned(), (413, "body_too_large")),
            (Some(&root.token), "/v1/blocks/".to_owned(), (413, "body_too_large")),
        ] {
            let refused = ask(&server, token, Method::POST, &path, Some(&body)).await;
            assert_eq!(refused.refusal(), expected, "{path}");
        }
        assert_eq!(ada.get(&server, "/api/v1/projects").await.body["pagination"]["total"], 1);
        assert_eq!(ada.get(&server, "/v1/blocks/").await.body, json!([]));
        assert_eq!(ada.get(&server, &format!("{agent}/runs")).await.body, json!([]));
    }
}
