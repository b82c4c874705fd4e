//! Further threads of messages of an agent.
//!
//! - [`save`]: they are made, changed, listed, copied and deleted. [`thread`]: what is sent to one is
//!   its own. [`control`]: one request at a time; runs are cancelled, contexts made shorter.
//! - [`again`]: requests that come a second time. [`bad_input`]: what is refused, in which words.

mod again;
mod bad_input;
mod control;
mod save;
mod thread;

use serde_json::{Value, json};

use crate::{clients::made, support::TestServer};

/// Makes a conversation.
async fn conversation(server: &TestServer, agent: &str, body: Value) -> Value {
    made(
        server,
        &format!("/v1/conversations/?agent_id={agent}"),
        &body,
    )
    .await
}

/// The path of a new conversation.
pub(crate) async fn begun(server: &TestServer, agent: &str) -> String {
    path(&conversation(server, agent, json!({})).await)
}

fn path(conversation: &Value) -> String {
    format!("/v1/conversations/{}", conversation["id"].as_str().unwrap())
}
