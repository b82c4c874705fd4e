//! Folders and their files, and agents that read them.
//!
//! - [`folders`], [`files`]: what there is. [`agents`]: which agent sees what of it. [`tools`]: what
//!   an agent does with it. [`agent_file`]: out of a server and into one. [`sources`]: the older name.
//! - [`owned`]: whose they are.

mod agent_file;
mod agents;
mod files;
#[allow(
    clippy::module_inception,
    reason = "it is about the folders themselves"
)]
mod folders;
mod owned;
mod sources;
mod tools;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    clients::{made, read, text},
    support::{Answer, TestServer},
};

/// An embedding model that nobody has to reach.
fn embedding() -> Value {
    json!({
        "embedding_endpoint_type": "openai", "embedding_model": "m", "embedding_dim": 8,
        "embedding_chunk_size": 32,
    })
}

/// Makes a folder, and gives its id.
async fn folder(server: &TestServer, name: &str) -> String {
    let body = json!({ "name": name, "embedding_config": embedding() });
    let made = made(server, "/v1/folders/", &body).await;
    text(&made["id"]).to_owned()
}

/// Uploads bytes as a file of this name.
async fn upload(server: &TestServer, path: &str, name: &str, bytes: &[u8]) -> Answer {
    let request = upload_request(server, path, name, bytes);
    Answer::read(request.send().await.unwrap()).await
}

fn upload_request(
    server: &TestServer,
    path: &str,
    name: &str,
    bytes: &[u8],
) -> reqwest::RequestBuilder {
    const BOUNDARY: &str = "a-line-between-parts";
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    let mut body = head.into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    let request = server.request(Method::POST, path);
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    request.header("content-type", kind).body(body)
}

/// Uploads a text that must be taken, and waits until it can be searched. Gives the file's id.
async fn uploaded(server: &TestServer, folder: &str, name: &str, content: &str) -> String {
    let path = format!("/v1/folders/{folder}/upload");
    let answer = upload(server, &path, name, content.as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let id = text(&answer.body["id"]).to_owned();
    let done = completed(server, folder, &id).await;
    assert_eq!(done["processing_status"], "completed", "{done}");
    id
}

/// A file whose reading has ended.
async fn completed(server: &TestServer, folder: &str, file: &str) -> Value {
    let path = format!("/v1/folders/{folder}/files/{file}");
    let ended = async {
        loop {
            let file = read(server, &path).await;
            if ["completed", "error"].contains(&text(&file["processing_status"])) {
                return file;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
    ended.expect("every file is read")
}

/// Patches without a body.
async fn touched(server: &TestServer, path: &str) -> Answer {
    let request = server.request(Method::PATCH, path);
    Answer::read(request.send().await.unwrap()).await
}
