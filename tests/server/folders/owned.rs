//! Whose folders are.

use reqwest::Method;
use serde_json::json;

use super::embedding;
use crate::{
    both::on_both,
    clients::{SCRIPTED, text},
    platform::Person,
};

on_both! {
    async fn people_have_folders_of_the_same_name_and_see_their_own(server) {
        let ada = Person::new(&server, "ada").await;
        let bob = Person::new(&server, "bob").await;
        let body = json!({ "name": "docs", "embedding_config": embedding() });
        let of_ada = ada.post(&server, "/v1/folders/", &body).await;
        let of_bob = bob.post(&server, "/v1/folders/", &body).await;
        assert_eq!((of_ada.status.as_u16(), of_bob.status.as_u16()), (200, 200), "{of_bob:?}");
        assert_eq!(ada.post(&server, "/v1/folders/", &body).await.status, 409);
        let id = text(&of_ada.body["id"]);
        for path in ["/v1/folders/count", "/v1/sources/count"] {
            assert_eq!(bob.get(&server, path).await.body, json!(1));
        }
        assert_eq!(bob.get(&server, "/v1/folders/name/docs").await.body, of_bob.body["id"]);
        assert_eq!(bob.get(&server, "/v1/folders/metadata").await.body["total_sources"], 1);
        for (method, path) in [
            (Method::GET, format!("/v1/folders/{id}")),
            (Method::GET, format!("/v1/folders/{id}/files")),
            (Method::GET, format!("/v1/sources/{id}/passages")),
            (Method::DELETE, format!("/v1/folders/{id}")),
        ] {
            let answer = bob.ask(&server, method, &path).await;
            assert_eq!(answer.status, 404, "{path}: {answer:?}");
        }
        let agent = json!({ "model": SCRIPTED, "folder_ids": [id] });
        assert_eq!(bob.post(&server, "/v1/agents/", &agent).await.status, 404);
        let agent = ada.post(&server, "/v1/agents/", &agent).await;
        assert_eq!(agent.status, 200, "{agent:?}");
        assert_eq!(ada.get(&server, &format!("/v1/folders/{id}")).await.status, 200);
    }
}
