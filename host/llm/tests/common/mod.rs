//! A provider on loopback: it answers what a test wrote down and remembers what it was asked.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, Uri},
    response::Response,
    serve::ListenerExt as _,
};
use bulkhead_domain::{LlmConfig, Part};
use bulkhead_llm::{
    ChatMessage, ChatReply, ChatRequest, Client, Delta, Endpoint, LlmError, Settings, ToolChoice,
};
use futures::{StreamExt as _, stream};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};
use zeroize::Zeroizing;

/// The key that every request carries.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Bytes>,
    end: End,
}

/// What comes after the last piece of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// Its end.
    Whole,
    /// Its end, a moment later.
    Late,
    /// The connection breaks.
    Broken,
    /// Nothing.
    Silent,
}

impl Answer {
    /// A JSON document.
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            pieces: vec![body.to_string().into()],
            end: End::Whole,
        }
    }

    /// Server-sent events, in pieces of so many bytes.
    pub(crate) fn stream(text: &str, size: usize) -> Self {
        let pieces = text.as_bytes().chunks(size.max(1));
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            pieces: pieces.map(Bytes::copy_from_slice).collect(),
            end: End::Whole,
        }
    }

    /// No answer at all.
    pub(crate) fn none() -> Self {
        Self {
            status: 0,
            ..Self::json(200, Value::Null)
        }
    }

    /// With one more header.
    pub(crate) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Its end comes a moment after its pieces.
    pub(crate) fn late(mut self) -> Self {
        self.end = End::Late;
        self
    }

    /// After its pieces, the connection breaks.
    pub(crate) fn broken(mut self) -> Self {
        self.end = End::Broken;
        self
    }

    /// After its pieces, nothing comes any more.
    pub(crate) fn silent(mut self) -> Self {
        self.end = End::Silent;
        self
    }
}

/// What the server was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Asked {
    /// A header, empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }
}

/// What a person says.
pub(crate) fn user(text: &str) -> ChatMessage {
    ChatMessage::User(vec![Part::text(text)])
}

#[derive(Debug, Default)]
struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) base_url: String,
    shared: Arc<Shared>,
    /// Gets a word when a client leaves an answer that had not ended.
    left: Mutex<mpsc::UnboundedReceiver<()>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Gives these answers, one for each request; 418 when they are used up.
    pub(crate) async fn with(answers: Vec<Answer>) -> Self {
        let shared = Arc::new(Shared {
            answers: Mutex::new(answers.into()),
            ..Shared::default()
        });
        let (leaving, left) = mpsc::unbounded_channel();
        let router = Router::new()
            .fallback(answer)
            .with_state((Arc::clone(&shared), leaving));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let counted = Arc::clone(&shared);
        let listener = listener.tap_io(move |_| {
            counted.connections.fetch_add(1, Ordering::Relaxed);
        });
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            base_url,
            shared,
            left: Mutex::new(left),
            task,
        }
    }

    /// Everything that was asked.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.shared.asked.lock().clone()
    }

    /// The one thing that was asked.
    pub(crate) fn only_request(&self) -> Asked {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:#?}");
        requests.into_iter().next().unwrap()
    }

    /// Connections that were made.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Waits until a client left an answer before its end.
    #[allow(clippy::await_holding_lock, reason = "nobody else waits")]
    pub(crate) async fn client_left(&self) {
        self.left.lock().recv().await.unwrap();
    }

    /// This server under a provider's name.
    pub(crate) fn endpoint(&self, provider: &str) -> Endpoint {
        Endpoint {
            name: provider.to_owned(),
            provider: provider.to_owned(),
            provider_id: None,
            base_url: self.base_url.clone(),
            api_key: Some(Zeroizing::new(KEY.to_owned())),
            headers: Vec::new(),
        }
    }

    /// A question without tools.
    pub(crate) fn request(
        &self,
        provider: &str,
        config: LlmConfig,
        messages: Vec<ChatMessage>,
    ) -> ChatRequest {
        ChatRequest {
            config,
            endpoint: self.endpoint(provider),
            system: "Be brief.".to_owned(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: false,
            user: None,
            script: None,
        }
    }
}

/// Short waits, so that what is repeated is so at once.
pub(crate) fn settings() -> Settings {
    Settings {
        backoff: Duration::from_millis(1),
        ..Settings::default()
    }
}

/// Asks without streaming, or with pieces that go to `deltas`.
pub(crate) async fn ask(
    request: &ChatRequest,
    deltas: Option<mpsc::Sender<Delta>>,
) -> Result<ChatReply, LlmError> {
    Client::new(settings()).unwrap().chat(request, deltas).await
}

/// Asks with streaming, and gives the pieces too.
pub(crate) async fn stream(request: &ChatRequest) -> (Result<ChatReply, LlmError>, Vec<Delta>) {
    stream_with(request, settings()).await
}

/// The same with other settings.
pub(crate) async fn stream_with(
    request: &ChatRequest,
    settings: Settings,
) -> (Result<ChatReply, LlmError>, Vec<Delta>) {
    let (sender, mut receiver) = mpsc::channel(4);
    let client = Client::new(settings).unwrap();
    let pieces = async {
        let mut pieces = Vec::new();
        while let Some(delta) = receiver.recv().await {
            pieces.push(delta);
        }
        pieces
    };
    tokio::join!(client.chat(request, Some(sender)), pieces)
}

type Leaving = mpsc::UnboundedSender<()>;

/// Tells when it is dropped before it was disarmed.
struct Watch(Option<Leaving>);

impl Watch {
    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(leaving) = self.0.take() {
            let _ = leaving.send(());
        }
    }
}

async fn answer(
    State((shared, leaving)): State<(Arc<Shared>, Leaving)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    shared.asked.lock().push(Asked {
        method,
        uri: uri.to_string(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    });
    let next = shared.answers.lock().pop_front();
    let Some(answer) = next else {
        let status = Response::builder().status(418);
        return status.body(Body::from("nothing more to say")).unwrap();
    };
    let mut watch = Watch(Some(leaving));
    if answer.status == 0 {
        std::future::pending::<()>().await;
    }
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    // Each piece is written by itself, whatever the next one is.
    let pieces = stream::iter(answer.pieces).then(|piece| async {
        tokio::task::yield_now().await;
        Ok::<_, std::io::Error>(piece)
    });
    let end = answer.end;
    let last = stream::once(async move {
        match end {
            End::Whole | End::Late => {
                if end == End::Late {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                watch.disarm();
                Ok(Bytes::new())
            }
            End::Broken => {
                watch.disarm();
                // What was written goes out only when nothing more is ready.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(std::io::Error::other("broken"))
            }
            End::Silent => {
                std::future::pending::<()>().await;
                drop(watch);
                Ok(Bytes::new())
            }
        }
    });
    response
        .body(Body::from_stream(pieces.chain(last)))
        .unwrap()
}
