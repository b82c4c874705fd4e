//! Results that are too large to be stored together.

use std::sync::Arc;

use bulkhead_agent::{AgentError, Models};
use bulkhead_domain::{LlmConfig, Role, StopReason, ToolStatus};
use bulkhead_llm::{ChatMessage, ChatReply, ChatRequest, Client, Endpoint, LlmError, chat::Deltas};
use futures::future::BoxFuture;
use serde_json::json;

use crate::world::{Setup, World, client, nowhere};

/// The offline model, which reads the beginnings of results only: nothing of this size fits its window.
struct Skims(Client);

impl Models for Skims {
    fn resolve<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<LlmConfig, AgentError>> {
        Box::pin(async move { Err(AgentError::UnknownModel(handle.to_owned())) })
    }

    fn endpoint<'a>(&'a self, _: &'a LlmConfig) -> BoxFuture<'a, Result<Endpoint, AgentError>> {
        Box::pin(async { Ok(nowhere()) })
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: Option<Deltas>,
    ) -> BoxFuture<'a, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            let mut request = request.clone();
            for message in &mut request.messages {
                if let ChatMessage::Tool { text, .. } = message {
                    text.truncate(100);
                }
            }
            self.0.chat(&request, deltas).await
        })
    }
}

#[tokio::test]
async fn results_that_are_too_large_together_are_cut_and_their_step_is_stored() {
    for waits in [false, true] {
        let world = World::with(Arc::new(Skims(client()))).await;
        let setup = Setup {
            rules: match waits {
                false => json!([]),
                true => json!([{"type": "requires_approval", "tool_name": "flood"}]),
            },
            ..Setup::default()
        };
        let agent = world.agent(setup).await;
        let script = "call flood\ncall flood\nthen\nsay done";
        let mut outcome = world.say(agent, script).await;
        if waits {
            let request = world.history(agent).await.pop().unwrap();
            let calls = request.tool_calls.iter().map(|call| (&*call.id, true));
            let calls: Vec<_> = calls.collect();
            outcome = world.decide(agent, &calls).await.unwrap();
        }
        assert_eq!(outcome.stop_reason, StopReason::EndTurn);
        let history = world.history(agent).await;
        let results = history.iter().find(|message| message.role == Role::Tool);
        let results = &results.unwrap().tool_returns;
        assert_eq!(results.len(), 2);
        for result in results {
            assert_eq!(result.status, ToolStatus::Success);
            assert!(result.text.starts_with("flood flood"));
            let end = &result.text[result.text.len() - 100..];
            assert!(end.contains("too large to be stored together"), "{end}");
        }
        world.agrees(agent).await;
    }
}
