//! Agents that ask agents.

use std::time::Duration;

use bulkhead_agent::Listener;
use bulkhead_domain::{Role, ToolStatus};

use crate::world::{Setup, World, said};

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
