//! A vendor of models on loopback: it speaks as OpenAI does, knows one key, and remembers what it
//! was asked.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// The key that it takes.
pub(crate) const KEY: &str = "sk-good-0123456789";
/// The model that answers.
pub(crate) const MODEL: &str = "little";
/// What it answers.
pub(crate) const ANSWER: &str = "Hello there";

/// A vendor that is there until it is dropped.
pub(crate) struct Vendor {
    pub(crate) base_url: String,
    asked: Arc<Mutex<Vec<Value>>>,
    task: JoinHandle<()>,
}

impl Drop for Vendor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Vendor {
    pub(crate) async fn start() -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let router = Router::new()
            .route("/v1/models", get(models))
            .route("/v1/chat/completions", post(chat))
            .with_state(Arc::clone(&asked));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            base_url,
            asked,
            task,
        }
    }

    /// The bodies of all questions, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn refused(headers: &HeaderMap) -> Option<Response> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let error = json!({ "error": {
        "message": "Incorrect API key provided.", "type": "invalid_request_error",
        "param": null, "code": "invalid_api_key",
    } });
    let is_known = given == format!("Bearer {KEY}");
    (!is_known).then(|| (StatusCode::UNAUTHORIZED, Json(error)).into_response())
}

async fn models(headers: HeaderMap) -> Response {
    let model = |id: &str| json!({ "id": id, "object": "model", "owned_by": "nobody" });
    let list = json!({ "object": "list", "data": [model(MODEL), model("text-embedding-3-small")] });
    refused(&headers).unwrap_or_else(|| Json(list).into_response())
}

async fn chat(
    State(asked): State<Arc<Mutex<Vec<Value>>>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    if let Some(refused) = refused(&headers) {
        return refused;
    }
    let streams = body["stream"] == true;
    asked.lock().unwrap().push(body);
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 });
    let frame =
        |object: &str| json!({ "id": "c1", "object": object, "created": 1, "model": MODEL });
    if !streams {
        let mut answer = frame("chat.completion");
        let message = json!({ "role": "assistant", "content": ANSWER });
        answer["choices"] = json!([{ "index": 0, "message": message, "finish_reason": "stop" }]);
        answer["usage"] = usage;
        return Json(answer).into_response();
    }
    let mut text = String::new();
    let mut chunk = |delta: Value, finish: Option<&str>, usage: Option<&Value>| {
        let mut chunk = frame("chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        chunk["usage"] = json!(usage);
        text.push_str(&format!("data: {chunk}\n\n"));
    };
    for piece in ANSWER.split_inclusive(' ') {
        chunk(json!({ "content": piece }), None, None);
    }
    chunk(json!({}), Some("stop"), Some(&usage));
    text.push_str("data: [DONE]\n\n");
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}
