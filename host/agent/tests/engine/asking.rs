//! Agents that ask agents.

use std::time::Duration;

use bulkhead_agent::Listener;
use bulkhead_domain::{Role, ToolReturn, ToolStatus, id::AgentId};
use serde_json::json;

use crate::world::{Setup, World, said};

/// An agent that asks another one whenever it is asked, or is the last that is.
async fn in_a_row(world: &World, next: Option<AgentId>) -> AgentId {
    let setup = Setup {
        tools: &["ask"],
        ..Setup::default()
    };
    let mut new = world.unstored(setup).await;
    let reply = match next {
        Some(next) => format!("call ask with {{\"x\": \"{next}\"}}\nthen\nsay heard"),
        None => "say the last".to_owned(),
    };
    let metadata = json!({ "script": [{ "when": "Incoming message", "reply": reply }] });
    new.agent.metadata = Some(metadata);
    world.store.create_agent(&new).await.unwrap();
    new.agent.id
}

/// The only result of a tool in the history of an agent.
async fn returned(world: &World, agent: AgentId) -> ToolReturn {
    let history = world.history(agent).await;
    let mut returns = history.into_iter().flat_map(|message| message.tool_returns);
    let returned = returns.next().expect("a tool was called");
    assert_eq!(returns.next(), None);
    returned
}

#[tokio::test]
async fn five_agents_wait_for_each_other_in_a_row_and_a_sixth_is_not_asked() {
    let world = World::new().await;
    // The last first: each knows the one that it asks.
    let mut row = vec![in_a_row(&world, None).await];
    for _ in 0..5 {
        let next = row.last().copied();
        row.push(in_a_row(&world, next).await);
    }
    row.reverse();
    let input = format!("call ask with {{\"x\": \"{}\"}}\nthen\nsay end", row[1]);
    world.say(row[0], &input).await;
    for agent in &row[..4] {
        let returned = returned(&world, *agent).await;
        assert_eq!(
            (returned.status, returned.text.as_str()),
            (ToolStatus::Success, "heard")
        );
    }
    let refused = returned(&world, row[4]).await;
    let expected = "Failed(\"5 agents wait for each other already\")";
    assert_eq!(
        (refused.status, refused.text.as_str()),
        (ToolStatus::Error, expected)
    );
    assert_eq!(world.words(row[5]).await, "", "nobody asked it");
    // One fewer, and the last is asked.
    let input = format!("call ask with {{\"x\": \"{}\"}}\nthen\nsay end", row[2]);
    world.say(row[1], &input).await;
    assert_eq!(world.words(row[5]).await, "system text");
}

#[tokio::test]
async fn two_agents_that_ask_each_other_at_once_both_come_to_an_end() {
    let world = World::new().await;
    let setup = || Setup {
        tools: &["ask"],
        ..Setup::default()
    };
    let (one, other) = (world.agent(setup()).await, world.agent(setup()).await);
    let asking = |id| format!("call ask with {{\"x\": \"{id}\"}}\nthen\nsay ok");
    // Each has its turn before either asks.
    let first = world.engine.begin(said(one, &asking(other))).await.unwrap();
    let second = world.engine.begin(said(other, &asking(one))).await.unwrap();
    let both = async {
        tokio::join!(
            world.engine.drive(first, Listener::none()),
            world.engine.drive(second, Listener::none()),
        )
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), both).await;
    let (first, second) = ended.expect("neither waits for ever");
    let mut refused = 0;
    for outcome in [first.unwrap(), second.unwrap()] {
        let mut messages = outcome.messages.iter();
        let returned = messages.find(|message| message.role == Role::Tool);
        let returned = &returned.unwrap().tool_returns[0];
        if returned.status == ToolStatus::Error {
            assert!(
                returned.text.contains("waits for an answer of yours"),
                "{}",
                returned.text
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 1, "one of both is told, the other is answered");
}
