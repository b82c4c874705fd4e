//! Groups of agents, and agents that look after another one's memory.
//!
//! - [`routes`]: groups are made, listed, changed. [`pair`]: an agent and what looks after its memory.
//! - [`turns`]: when that one works, on what, and what comes of it.

mod pair;
mod routes;
mod turns;

use serde_json::{Value, json};

use crate::{
    messages::{agent, text},
    support::TestServer,
};

/// An agent that has one which looks after its memory, and that one.
async fn pair(server: &TestServer, mut more: Value) -> (String, String) {
    more["enable_sleeptime"] = json!(true);
    let main = agent(server, more).await;
    let group = managed(server, &main).await;
    let other = text(&group["agent_ids"][0]).to_owned();
    (main, other)
}

/// The group that an agent leads.
async fn managed(server: &TestServer, agent: &str) -> Value {
    let path = format!("/v1/agents/{agent}?include=agent.managed_group");
    let answer = server.get(&path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["managed_group"].clone()
}

/// Labels of an agent's blocks, in the order in which it got them.
async fn labels(server: &TestServer, agent: &str) -> Vec<String> {
    let path = format!("/v1/agents/{agent}?include=agent.blocks");
    let found = server.get(&path).await.body;
    let blocks = found["blocks"].as_array().unwrap().iter();
    blocks
        .map(|block| text(&block["label"]).to_owned())
        .collect()
}
