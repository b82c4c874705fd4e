//! The agents that clients talk to.

use bulkhead_domain::id::{AgentId, ConversationId};
use reqwest::Method;
use serde_json::{Value, json};

use crate::program::{Client, Program};

/// What an agent is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Counts in the durable state of a tool.
    Counts,
    /// Counts when somebody has approved.
    Asks,
    /// Writes into its memory.
    Remembers,
    /// Counts, in a conversation beside its own thread.
    Converses,
}

/// An agent, and the thread in which clients talk to it.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) kind: Kind,
    pub(crate) id: AgentId,
    pub(crate) conversation: Option<ConversationId>,
}

impl Agent {
    /// The path of its messages.
    pub(crate) fn messages(&self) -> String {
        match &self.conversation {
            None => format!("/v1/agents/{}/messages", self.id),
            Some(id) => format!("/v1/conversations/{id}/messages"),
        }
    }

    /// The path by which its runs are cancelled.
    pub(crate) fn cancel(&self) -> String {
        match &self.conversation {
            None => format!("/v1/agents/{}/messages/cancel", self.id),
            Some(id) => format!("/v1/conversations/{id}/cancel"),
        }
    }
}

/// All agents.
pub(crate) struct World {
    pub(crate) agents: Vec<Agent>,
}

impl World {
    /// Installs what the agents need, once.
    pub(crate) async fn prepare(program: &Program) {
        let client = program.client();
        client.push("friendly", bulkhead_fixtures::FRIENDLY).await;
        client.push("memory", bulkhead_tools::MEMORY).await;
        let grant = json!({ "component": "friendly", "capabilities": { "state": true } });
        client.post("/v1/grants", &grant).await;
    }

    /// Agents that nobody has talked to.
    pub(crate) async fn new(program: &Program, number: usize) -> Self {
        let client = program.client();
        let mut agents = Vec::new();
        for kind in [Kind::Counts, Kind::Asks, Kind::Remembers, Kind::Converses] {
            agents.push(agent(&client, kind, number).await);
        }
        Self { agents }
    }
}

async fn agent(client: &Client, kind: Kind, number: usize) -> Agent {
    let tool = match kind {
        Kind::Remembers => "memory_insert",
        _ => "counter",
    };
    let listed = client.get(&format!("/v1/tools/?name={tool}")).await;
    let body = json!({
        "name": format!("{kind:?} {number}"), "model": "bulkhead/scripted",
        "include_base_tools": false, "parallel_tool_calls": true,
        "tool_ids": [listed[0]["id"]],
        "memory_blocks": [{ "label": "human", "value": "Bob" }],
    });
    let made = client.post("/v1/agents/", &body).await;
    let id = parsed(&made["id"]);
    let mut agent = Agent {
        kind,
        id,
        conversation: None,
    };
    if kind == Kind::Asks {
        let path = format!("/v1/agents/{id}/tools/approval/{tool}");
        let body = json!({ "requires_approval": true });
        client.must(Method::PATCH, &path, &body).await;
    }
    if kind == Kind::Converses {
        let path = format!("/v1/conversations/?agent_id={id}");
        let made = client.post(&path, &json!({})).await;
        agent.conversation = Some(parsed(&made["id"]));
    }
    agent
}

/// An id of an answer.
pub(crate) fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(id: &Value) -> T {
    let text = id.as_str().unwrap_or_else(|| panic!("an id: {id}"));
    text.parse().unwrap()
}
