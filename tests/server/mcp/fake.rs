//! An MCP server on loopback: both transports, sessions, pages, and tools that behave as they are
//! named. It remembers what it was sent.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{any, get, post},
};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

/// The token that it takes where it takes any.
pub(crate) const TOKEN: &str = "mcp-secret-token-0123456789";

/// A PNG of one dot.
const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A server that is there until it is dropped.
pub(crate) struct Fake {
    pub(crate) origin: String,
    state: Shared,
    task: JoinHandle<()>,
}

/// What it does, and what it was sent.
#[derive(Default)]
pub(crate) struct Behaviour {
    /// Its tools.
    pub(crate) tools: Vec<Value>,
    /// Tools on a page; all where it is nothing.
    pub(crate) page: usize,
    /// What `authorization` has to say.
    pub(crate) authorization: Option<String>,
    /// Every page says that another one follows.
    pub(crate) endless: bool,
    /// Every letter in its lists is written as an escape.
    pub(crate) respell: bool,
    /// Status and body of every call, instead of an answer.
    pub(crate) refuses: Option<(u16, String)>,
    /// What `initialize` answers instead.
    pub(crate) version: Option<String>,
    /// Methods of messages with their headers and parameters, and the messages' ids, in order.
    seen: Vec<(String, HeaderMap, Value)>,
    ids: Vec<Value>,
    sessions: Vec<String>,
    count: usize,
    streams: HashMap<String, mpsc::UnboundedSender<String>>,
}

type Shared = Arc<Mutex<Behaviour>>;

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A tool with one text as its argument.
pub(crate) fn described(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "additionalProperties": false,
        },
    })
}

impl Fake {
    /// With these tools.
    pub(crate) async fn start(tools: &[&str]) -> Self {
        let behaviour = Behaviour {
            tools: tools.iter().map(|name| described(name)).collect(),
            ..Behaviour::default()
        };
        let state = Arc::new(Mutex::new(behaviour));
        let router = Router::new()
            .route("/mcp", post(streamable).delete(closed))
            .route("/slash", any(|| async { moved("/mcp") }))
            .route(
                "/away",
                any(|| async { moved("http://169.254.169.254/latest") }),
            )
            .route(
                "/other",
                any(|| async { moved("https://mcp.example.com/") }),
            )
            .route("/hangs", any(|| async { hang().await }))
            .route(
                "/page",
                any(|| async { ([(header::CONTENT_TYPE, "text/html")], "<p>Hi") }),
            )
            .route("/sse", get(opened))
            .route(
                "/elsewhere",
                get(|| async { event("endpoint", "http://10.0.0.1/x") }),
            )
            .route("/messages", post(posted))
            .with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            origin,
            state,
            task,
        }
    }

    /// Where it is asked over streamable HTTP.
    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Makes it behave otherwise from now on.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.state.lock().unwrap());
    }

    /// Forgets all sessions, as after a restart.
    pub(crate) fn forget(&self) {
        self.change(|state| state.sessions.clear());
    }

    /// The methods of all messages, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state
            .seen
            .iter()
            .map(|(method, ..)| method.clone())
            .collect()
    }

    /// Headers of the last message with this method.
    pub(crate) fn headers(&self, method: &str) -> HeaderMap {
        let state = self.state.lock().unwrap();
        let mut seen = state.seen.iter().rev();
        let found = seen.find(|(found, ..)| found == method);
        found.map(|(_, headers, _)| headers.clone()).unwrap()
    }

    /// The parameters of the last message with this method.
    pub(crate) fn params(&self, method: &str) -> Value {
        let state = self.state.lock().unwrap();
        let mut seen = state.seen.iter().rev();
        let found = seen.find(|(found, ..)| found == method);
        found.map(|(_, _, params)| params.clone()).unwrap()
    }

    /// The id of the last message with this method.
    pub(crate) fn id(&self, method: &str) -> Value {
        let state = self.state.lock().unwrap();
        let found = state.seen.iter().rposition(|(found, ..)| found == method);
        state.ids[found.unwrap()].clone()
    }

    /// How many messages with this method came.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.methods()
            .iter()
            .filter(|found| *found == method)
            .count()
    }

    /// The sessions of all messages with this method, in order.
    pub(crate) fn sessions(&self, method: &str) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let of_method = state.seen.iter().filter(|(found, ..)| found == method);
        let ids = of_method.map(|(_, headers, _)| &headers["mcp-session-id"]);
        ids.map(|id| id.to_str().unwrap().to_owned()).collect()
    }

    /// Waits until a message with this method has come.
    pub(crate) async fn wait_for(&self, method: &str) {
        for _ in 0..200 {
            if self.methods().iter().any(|found| found == method) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("no {method} among {:?}", self.methods());
    }
}

/// The same JSON with letters and digits of its texts as escapes.
fn respelt(json: &str) -> String {
    let mut in_text = false;
    let mut is_escaped = false;
    let mut respelt = String::new();
    for c in json.chars() {
        if c == '"' && !is_escaped {
            in_text = !in_text;
        }
        let plain = is_escaped || !in_text || !c.is_ascii_alphanumeric();
        is_escaped = in_text && c == '\\' && !is_escaped;
        match plain {
            true => respelt.push(c),
            false => respelt.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    respelt
}

fn moved(to: &'static str) -> Response {
    (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
}

async fn hang() {
    tokio::time::sleep(Duration::from_secs(600)).await;
}

fn event(name: &str, data: &str) -> Response {
    let text = format!("event: {name}\ndata: {data}\n\n");
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// Notes a message; gives its method and whether it may be answered.
fn note(state: &Shared, headers: &HeaderMap, message: &Value) -> (String, bool) {
    let mut state = state.lock().unwrap();
    let method = message["method"].as_str().unwrap_or("(answer)").to_owned();
    let params = message["params"].clone();
    state.seen.push((method.clone(), headers.clone(), params));
    state.ids.push(message["id"].clone());
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok());
    let knows = match &state.authorization {
        Some(expected) => given == Some(expected),
        None => true,
    };
    (method, knows)
}

async fn closed(State(state): State<Shared>, headers: HeaderMap) -> StatusCode {
    note(&state, &headers, &json!({ "method": "(closed)" }));
    StatusCode::OK
}

async fn streamable(
    State(state): State<Shared>,
    headers: HeaderMap,
    Json(message): Json<Value>,
) -> Response {
    let (method, knows) = note(&state, &headers, &message);
    if !knows {
        return (StatusCode::UNAUTHORIZED, "the token is wrong").into_response();
    }
    if method == "initialize" {
        let session = {
            let mut state = state.lock().unwrap();
            state.count += 1;
            let session = format!("session-{}", state.count);
            state.sessions.push(session.clone());
            session
        };
        let mut response = Json(answer(&state, &message, &headers)).into_response();
        let session = HeaderValue::from_str(&session).unwrap();
        response.headers_mut().insert("mcp-session-id", session);
        return response;
    }
    let session = headers
        .get("mcp-session-id")
        .and_then(|id| id.to_str().ok());
    let is_open = session.is_some_and(|id| state.lock().unwrap().sessions.iter().any(|s| s == id));
    if !is_open {
        return StatusCode::NOT_FOUND.into_response();
    }
    if message["id"].is_null() || message["method"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let refuses = state.lock().unwrap().refuses.clone();
    if let Some((status, body)) = refuses.filter(|_| method == "tools/call") {
        let body = body.replace("(id)", &message["id"].to_string());
        return (StatusCode::from_u16(status).unwrap(), body).into_response();
    }
    if state.lock().unwrap().respell && method == "tools/list" {
        let text = respelt(&answer(&state, &message, &headers).to_string());
        return ([(header::CONTENT_TYPE, "application/json")], text).into_response();
    }
    match message["params"]["name"].as_str() {
        Some("hang") => {
            hang().await;
            StatusCode::OK.into_response()
        }
        Some("nonsense") => {
            ([(header::CONTENT_TYPE, "application/json")], "{nonsense").into_response()
        }
        Some("endless") => {
            let notes = stream::repeat_with(|| {
                let note = json!({ "jsonrpc": "2.0", "method": "notifications/message" });
                Ok::<_, Infallible>(format!("data: {note}\n\n"))
            });
            let events = [(header::CONTENT_TYPE, "text/event-stream")];
            (events, Body::from_stream(notes)).into_response()
        }
        Some("cut") => (
            [(header::CONTENT_TYPE, "text/event-stream")],
            "data: {\"jso",
        )
            .into_response(),
        Some("stream") => {
            let note =
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} });
            let ping = json!({ "jsonrpc": "2.0", "id": "p-1", "method": "ping" });
            let last = answer(&state, &message, &headers);
            let text =
                format!(": hi\n\ndata: {note}\n\ndata: {ping}\n\nevent: message\ndata: {last}\n\n");
            ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
        }
        _ => Json(answer(&state, &message, &headers)).into_response(),
    }
}

fn answer(state: &Shared, message: &Value, headers: &HeaderMap) -> Value {
    let state = state.lock().unwrap();
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let version = state.version.as_deref();
            let asked = params["protocolVersion"].as_str().unwrap();
            json!({
                "protocolVersion": version.unwrap_or(asked),
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "fake", "version": "1" },
            })
        }
        "tools/list" => {
            let from: usize = params["cursor"]
                .as_str()
                .map_or(0, |at| at.parse().unwrap());
            let count = if state.page == 0 {
                usize::MAX
            } else {
                state.page
            };
            let to = from.saturating_add(count).min(state.tools.len());
            let mut result = json!({ "tools": state.tools[from..to] });
            if state.endless {
                result["nextCursor"] = json!("0");
                result["tools"] = json!([]);
            } else if to < state.tools.len() {
                result["nextCursor"] = json!(to.to_string());
            }
            result
        }
        "tools/call" => return called(message, params, headers),
        method => {
            let error = json!({ "code": -32601, "message": format!("no {method}") });
            return json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}

fn called(message: &Value, params: &Value, headers: &HeaderMap) -> Value {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let given = params["arguments"]["text"].as_str().unwrap_or("nothing");
    let result = match params["name"].as_str().unwrap() {
        "fail" => json!({ "content": text("it did not work"), "isError": true }),
        "two" => json!({ "content": [
            { "type": "text", "text": "one" }, { "type": "text", "text": "two" },
            { "type": "resource_link", "uri": "x:y", "name": "z" },
        ] }),
        "value" => json!({ "content": [], "structuredContent": { "sum": 3 } }),
        "picture" => json!({ "content": [
            { "type": "text", "text": "a dot" },
            { "type": "image", "mimeType": "image/jpeg", "data": DOT },
        ] }),
        "smudge" => json!({ "content": [
            { "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" },
        ] }),
        "leak" => {
            let seen = headers
                .get(header::AUTHORIZATION)
                .map(|value| value.to_str().unwrap());
            let key = headers
                .get("x-api-key")
                .map(|value| value.to_str().unwrap());
            json!({ "content": text(&format!("{seen:?} {key:?}")) })
        }
        "huge" => json!({ "content": text(&"x".repeat(10 << 20)) }),
        "refuse" => {
            let error = json!({ "code": -32602, "message": "Unknown tool" });
            return json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        }
        name => json!({ "content": text(&format!("{name}: {given}")) }),
    };
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}

/// Opens a stream of the older transport.
async fn opened(State(state): State<Shared>, headers: HeaderMap) -> Response {
    let (_, knows) = note(&state, &headers, &json!({ "method": "(opened)" }));
    if !knows {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let (send, receive) = mpsc::unbounded_channel();
    let id = {
        let mut state = state.lock().unwrap();
        state.count += 1;
        let id = state.count.to_string();
        state.streams.insert(id.clone(), send);
        id
    };
    let first = format!("event: endpoint\ndata: /messages?id={id}\n\n");
    let rest = stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|text| (text, receive))
    });
    let events = stream::iter([first]).chain(rest).map(Ok::<_, Infallible>);
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(events)).into_response()
}

/// Takes a message of the older transport.
async fn posted(
    State(state): State<Shared>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    Json(message): Json<Value>,
) -> StatusCode {
    note(&state, &headers, &message);
    if !message["id"].is_null() && !message["method"].is_null() {
        let text = answer(&state, &message, &headers);
        let state = state.lock().unwrap();
        let stream = &state.streams[&query["id"]];
        stream
            .send(format!("event: message\ndata: {text}\n\n"))
            .unwrap();
    }
    StatusCode::ACCEPTED
}
