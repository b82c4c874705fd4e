//! One request, as a client reads it until the answer is over or the server is gone.

use reqwest::Method;
use serde_json::Value;

use crate::program::Client;

/// What a client has heard.
#[derive(Debug)]
pub(crate) struct Heard {
    /// None where the server was gone before it answered.
    pub(crate) status: Option<u16>,
    /// All that came.
    pub(crate) text: String,
    /// Whether the answer came to its end.
    pub(crate) is_whole: bool,
}

/// Posts a body.
pub(crate) async fn post(client: &Client, path: &str, body: &Value) -> Heard {
    let mut heard = Heard {
        status: None,
        text: String::new(),
        is_whole: false,
    };
    let request = client.request(Method::POST, path).json(body);
    let Ok(mut response) = request.send().await else {
        return heard;
    };
    heard.status = Some(response.status().as_u16());
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => {
                heard.is_whole = true;
                break;
            }
            Err(_) => break,
        }
    }
    heard.text = String::from_utf8_lossy(&bytes).into_owned();
    heard
}

/// Whether a text says that a request was refused for what its agent waits for, or does not wait
/// for: another client, or an answer that nobody heard, was first.
pub(crate) fn is_refusal(text: &str) -> bool {
    ["is waiting for approval", "is currently awaiting approval"]
        .iter()
        .any(|why| text.contains(why))
}

impl Heard {
    /// Whether the run came to its own end, and the client knows all of it.
    pub(crate) fn is_everything(&self) -> bool {
        let is_stream = self.text.starts_with("data: ");
        let is_over = !is_stream || self.text.ends_with("data: [DONE]\n\n");
        self.is_whole && is_over && self.stopped_for("end_turn")
    }

    /// Whether the run ended for this reason.
    pub(crate) fn stopped_for(&self, reason: &str) -> bool {
        let stop = format!(r#""stop_reason":"{reason}""#);
        self.is_whole && self.text.contains(&stop)
    }

    /// The run that the first event or a run's own record names.
    pub(crate) fn run(&self) -> Option<String> {
        let at = self.text.find("\"run-")? + 1;
        let (run, _) = self.text[at..].split_once('"')?;
        Some(run.to_owned())
    }

    /// Fails where a server that was there said what it must not; gives whether it is still there.
    pub(crate) fn expect(&self, allowed: &[u16]) -> bool {
        if let (Some(status), true) = (self.status, self.is_whole) {
            assert!(allowed.contains(&status), "{status}: {}", self.text);
            let failed = self.text.contains("event: error");
            assert!(!failed || is_refusal(&self.text), "{}", self.text);
        }
        self.is_whole
    }
}
