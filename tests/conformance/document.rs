//! The document of the API against the server's answers: schemathesis asks every route of both APIs what
//! the document allows and what it doesn't, as a superuser, as somebody who is none, and as nobody.

use std::{path::Path, time::Duration};

use bulkhead_server::Server;
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};

use crate::{sdk, started::started};

/// How long all of it may take: several times what it does, so that only one that hangs is stopped.
const PATIENCE: Duration = Duration::from_secs(900);

const PASSWORD: &str = "correct-horse-battery-9";

/// Makes an account.
async fn register(server: &Server, client: &Client, email: &str) {
    let body = json!({
        "email": email, "password": PASSWORD, "first_name": "Ada", "last_name": "King",
    });
    let url = format!("{}/api/v1/auth/register", server.url());
    let answer = client.post(url).json(&body).send().await.unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
}

/// Signs in; the access token.
async fn login(server: &Server, client: &Client, email: &str) -> String {
    let url = format!("{}/api/v1/auth/login", server.url());
    let body = json!({ "email": email, "password": PASSWORD });
    let answer = client.post(url).json(&body).send().await.unwrap();
    let tokens: Value = answer.json().await.unwrap();
    tokens["access_token"].as_str().unwrap().to_owned()
}

/// What `bulkhead user create --superuser` says of an account, past the program.
async fn raise(folder: &Path, email: &str) {
    let path = folder.join("bulkhead.db");
    let url = format!("sqlite://{}", path.display());
    let mut database = SqliteConnection::connect(&url).await.unwrap();
    let raised = sqlx::query("UPDATE users SET is_superuser = 1 WHERE email = $1")
        .bind(email)
        .execute(&mut database)
        .await
        .unwrap();
    assert_eq!(raised.rows_affected(), 1);
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_contradicts_the_document_and_none_is_a_failure_of_the_server() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/document/check.py");
    let Some((_, mut python)) = sdk::python("schemathesis", &script).await else {
        return;
    };
    let (server, folder) = started(|_| {}).await;
    let client = Client::builder().no_proxy().build().unwrap();
    let (root, ada) = ("root@example.com", "ada@example.com");
    for email in [root, ada] {
        register(&server, &client, email).await;
    }
    raise(folder.path(), root).await;
    python
        .env("BULKHEAD_SUPERUSER", login(&server, &client, root).await)
        .env("BULKHEAD_USER", login(&server, &client, ada).await);
    let found = sdk::run(python, &server.url(), PATIENCE).await;
    server.shutdown().await.unwrap();
    if let Err(found) = found {
        panic!("{found}");
    }
}
