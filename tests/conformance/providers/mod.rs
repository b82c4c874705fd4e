//! Providers of models on loopback. They speak the wire formats of three vendors, refuse what those
//! refuse, follow one small plot, and remember what they were asked.
//!
//! - `plot`: what is answered, whatever the format. `talk`: what a request says of its conversation.
//! - `chat`, `responses`, `anthropic`, `gemini`: a format each, read strictly and written whole or as
//!   events.

mod anthropic;
mod chat;
mod gemini;
mod plot;
mod responses;
mod talk;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

pub(crate) use self::talk::unpacked;
use self::{
    plot::Reply,
    talk::{Fault, Talk},
};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wire {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's content generation.
    Gemini,
}

/// A request for an answer of a model.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// How it was asked.
    pub(crate) wire: Wire,
    /// The body.
    pub(crate) body: Value,
    /// What is wrong with it, where the vendor would refuse it.
    pub(crate) fault: Option<String>,
}

type Record = Arc<Mutex<Vec<Asked>>>;

/// The running providers; they end with this.
#[derive(Debug)]
pub(crate) struct Providers {
    url: String,
    record: Record,
    task: JoinHandle<()>,
}

impl Drop for Providers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Providers {
    /// Starts all of them on one free port.
    pub(crate) async fn start() -> Self {
        let record = Record::default();
        let router = Router::new()
            .route("/openai/v1/models", get(|| async { Json(chat::models()) }))
            .route("/openai/v1/chat/completions", post(chat_completion))
            .route("/openai/v1/responses", post(response))
            .route(
                "/anthropic/v1/models",
                get(|| async { Json(anthropic::models()) }),
            )
            .route("/anthropic/v1/messages", post(message))
            .route(
                "/google/v1beta/models",
                get(|| async { Json(gemini::models()) }),
            )
            .route("/google/v1beta/models/{method}", post(content))
            .with_state(Arc::clone(&record));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, record, task }
    }

    /// The address that stands for OpenAI's.
    pub(crate) fn openai(&self) -> String {
        format!("{}/openai/v1", self.url)
    }

    /// The variables by which a server finds them.
    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        let url = &self.url;
        [
            ("OPENAI_BASE_URL", self.openai()),
            ("OPENAI_API_KEY", "sk-openai".to_owned()),
            ("ANTHROPIC_BASE_URL", format!("{url}/anthropic")),
            ("ANTHROPIC_API_KEY", "sk-anthropic".to_owned()),
            ("GEMINI_BASE_URL", format!("{url}/google")),
            ("GEMINI_API_KEY", "sk-google".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Everything that was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.record.lock().unwrap().clone()
    }
}

/// What each format brings.
struct Format {
    wire: Wire,
    /// The header of the key, and what stands before the key.
    key: (&'static str, &'static str),
    read: fn(&Value) -> Result<Talk, Fault>,
    whole: fn(&Value, &Reply) -> Value,
    events: fn(&Value, &Reply) -> String,
    refusal: fn(StatusCode, &str) -> Value,
}

impl Format {
    /// Answers a request, and remembers it.
    fn answer(&self, record: &Record, headers: &HeaderMap, body: Value, stream: bool) -> Response {
        let talk = self.check_key(headers).and_then(|()| (self.read)(&body));
        let answer = match &talk {
            Ok(talk) => match plot::reply(talk) {
                Some(reply) if stream => {
                    let events = (self.events)(&body, &reply);
                    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
                }
                Some(reply) => Json((self.whole)(&body, &reply)).into_response(),
                None => self.refuse(StatusCode::UNAUTHORIZED, "That is not a key."),
            },
            Err(fault) => self.refuse(StatusCode::BAD_REQUEST, &fault.0),
        };
        record.lock().unwrap().push(Asked {
            wire: self.wire,
            body,
            fault: talk.err().map(|fault| fault.0),
        });
        answer
    }

    fn check_key(&self, headers: &HeaderMap) -> Result<(), Fault> {
        let (name, prefix) = self.key;
        let key = headers.get(name).and_then(|value| value.to_str().ok());
        let is_key = key
            .and_then(|key| key.strip_prefix(prefix))
            .is_some_and(|key| key.starts_with("sk-"));
        Fault::unless(is_key, || format!("{name} holds {key:?}"))
    }

    fn refuse(&self, status: StatusCode, text: &str) -> Response {
        (status, Json((self.refusal)(status, text))).into_response()
    }
}

fn streams(body: &Value) -> bool {
    body["stream"] == true
}

async fn chat_completion(
    State(record): State<Record>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let stream = streams(&body);
    chat::FORMAT.answer(&record, &headers, body, stream)
}

async fn response(
    State(record): State<Record>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let stream = streams(&body);
    responses::FORMAT.answer(&record, &headers, body, stream)
}

async fn message(
    State(record): State<Record>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let stream = streams(&body);
    if !headers.contains_key("anthropic-version") {
        let refusal = anthropic::refusal(StatusCode::BAD_REQUEST, "anthropic-version is missing");
        return (StatusCode::BAD_REQUEST, Json(refusal)).into_response();
    }
    anthropic::FORMAT.answer(&record, &headers, body, stream)
}

/// `{model}:{method}`; whether it streams is in the method.
async fn content(
    State(record): State<Record>,
    Path(method): Path<String>,
    headers: HeaderMap,
    Json(mut body): Json<Value>,
) -> Response {
    let (model, method) = method.split_once(':').unwrap_or((&method, ""));
    let stream = method == "streamGenerateContent";
    // Answers name the model, which is in the address alone.
    body["model"] = json!(model);
    gemini::FORMAT.answer(&record, &headers, body, stream)
}

/// A text in two pieces, as a stream brings it.
fn pieces(text: &str) -> [&str; 2] {
    let half = text.floor_char_boundary(text.len() / 2);
    [&text[..half], &text[half..]]
}

/// Events with a name each, their type.
fn named_events(events: &[Value]) -> String {
    let event = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(event).collect()
}
