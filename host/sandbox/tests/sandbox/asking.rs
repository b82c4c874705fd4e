//! Tools that ask agents, whose tools need slots too.

use std::{sync::Arc, time::Duration};

use bulkhead_domain::Outcome;
use bulkhead_sandbox::{
    Call, Component, Report, Sandbox, Services, Settings,
    services::{
        AgentReply, AgentsError, AgentsService, PeerError, PeerReply, PeerRequest, PeersService,
    },
};
use futures::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::common::*;

const ASK: &str = "send_message_to_agent_and_wait_for_reply";
/// Many times what the calls of a test take, and less than a call waits for a slot.
const PATIENCE: Duration = Duration::from_secs(10);

/// Agents that use a tool when they are asked: the agent `0` adds, every other one asks the one
/// before it. The agent `never` does not answer.
#[derive(Clone)]
struct Agents {
    sandbox: Sandbox,
    asks: Component,
    adds: Component,
}

impl Agents {
    /// In a sandbox of one slot.
    async fn new() -> Self {
        let settings = Settings {
            slots: 1,
            ..settings()
        };
        let sandbox = Sandbox::new(settings).unwrap();
        let asks = install(&sandbox, bulkhead_tools::MESSAGES).await;
        let adds = friendly(&sandbox).await;
        Self {
            sandbox,
            asks,
            adds,
        }
    }

    fn services(&self) -> Services {
        Services {
            agents: Some(Arc::new(self.clone())),
            peers: Some(Arc::new(self.clone())),
            ..Services::default()
        }
    }

    /// Has a tool ask this agent.
    fn asking(&self, agent: &str) -> Call {
        call(ASK, json!({ "message": "hello", "other_agent_id": agent }))
            .with_authority(granted(&self.asks, ASK, json!({ "agents": ["*"] })))
            .with_services(self.services())
    }

    async fn asked(&self, agent: &str) -> Report {
        let asked = self.sandbox.call(&self.asks, self.asking(agent));
        let asked = tokio::time::timeout(PATIENCE, asked).await;
        asked.expect("nobody waits for a slot")
    }

    async fn use_tool(&self, agent: &str) -> Report {
        match agent.parse::<usize>() {
            Ok(0) => {
                let input = json!({ "left": 1, "right": 2 });
                self.sandbox.call(&self.adds, call("add", input)).await
            }
            Ok(number) => self.asked(&(number - 1).to_string()).await,
            Err(_) => std::future::pending().await,
        }
    }
}

impl AgentsService for Agents {
    fn send<'a>(&'a self, _: &'a str, _: String) -> BoxFuture<'a, Result<(), AgentsError>> {
        Box::pin(async { Ok(()) })
    }

    fn ask<'a>(
        &'a self,
        agent_id: &'a str,
        _: String,
    ) -> BoxFuture<'a, Result<AgentReply, AgentsError>> {
        Box::pin(async move {
            let report = self.use_tool(agent_id).await;
            let output = report
                .result
                .map_err(|failure| AgentsError::Failed(failure.message))?;
            Ok(AgentReply {
                agent_id: agent_id.to_owned(),
                text: output.text(),
            })
        })
    }

    fn ask_matching(
        &self,
        text: String,
        match_all: Vec<String>,
        _: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<AgentReply>, AgentsError>> {
        Box::pin(async move {
            let replies = match_all.iter().map(|agent| self.ask(agent, text.clone()));
            futures::future::try_join_all(replies).await
        })
    }
}

impl PeersService for Agents {
    fn call(&self, request: PeerRequest) -> BoxFuture<'_, PeerReply> {
        Box::pin(async move {
            let mut call = self.asking("0");
            call.tool = request.name;
            call.input = request.input.into();
            call.lineage = request.lineage;
            let report = self.sandbox.call(&self.asks, call).await;
            PeerReply {
                fuel: report.receipt.fuel,
                result: report
                    .result
                    .map_err(|failure| PeerError::Stopped(failure.outcome, failure.message)),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_of_as_many_agents_as_may_wait_for_each_other_run_in_one_slot() {
    let agents = Agents::new().await;
    let report = agents.asked("3").await;
    assert_eq!(outcome(&report), Outcome::Ok, "{report:?}");
    assert!(report.result.unwrap().text().contains('3'));
    assert_eq!(agents.sandbox.usage().running, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_asks_several_agents_leaves_its_slot_to_all_of_them() {
    const ASK_ALL: &str = "send_message_to_agents_matching_tags";
    let agents = Agents::new().await;
    let input = json!({ "message": "hello", "match_all": ["0", "0", "0"], "match_some": [] });
    let call = call(ASK_ALL, input)
        .with_authority(granted(&agents.asks, ASK_ALL, json!({ "agents": ["*"] })))
        .with_services(agents.services());
    let asked = tokio::time::timeout(PATIENCE, agents.sandbox.call(&agents.asks, call)).await;
    assert_eq!(
        outcome(&asked.expect("nobody waits for a slot")),
        Outcome::Ok
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_asks_by_way_of_another_leaves_the_slot_in_which_both_run() {
    let agents = Agents::new().await;
    let ask = json!({ "message": "hello", "other_agent_id": "0" });
    let call = call("ask_peer", json!({ "name": ASK, "input": ask }))
        .with_authority(granted(&agents.adds, "ask_peer", json!({ "peers": ["*"] })))
        .with_services(agents.services());
    let asked = tokio::time::timeout(PATIENCE, agents.sandbox.call(&agents.adds, call)).await;
    assert_eq!(
        outcome(&asked.expect("nobody waits for a slot")),
        Outcome::Ok
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_tools_ask_at_once_and_one_more_is_told_so_at_once() {
    let agents = Agents::new().await;
    let cancel = CancellationToken::new();
    let mut asking = Vec::new();
    for number in 1..=4 {
        let (own, cancel) = (agents.clone(), cancel.clone());
        asking.push(tokio::spawn(async move {
            let call = own.asking("never").with_cancel(cancel);
            own.sandbox.call(&own.asks, call).await
        }));
        let begun = async {
            while agents.sandbox.usage().running < number {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let begun = tokio::time::timeout(PATIENCE, begun).await;
        begun.expect("those before it have left the slot");
    }
    let refused = agents.asked("0").await;
    assert_eq!(outcome(&refused), Outcome::ToolError);
    let text = refused.result.unwrap_err().message;
    assert!(text.contains("too many tools wait for answers"), "{text}");
    neighbour_is_unharmed(&agents.sandbox, &agents.adds).await;
    cancel.cancel();
    for asking in asking {
        assert_eq!(outcome(&asking.await.unwrap()), Outcome::Cancelled);
    }
    assert_eq!(agents.sandbox.usage().running, 0);
    assert_eq!(outcome(&agents.asked("0").await), Outcome::Ok);
}
