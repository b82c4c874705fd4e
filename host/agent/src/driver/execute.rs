//! The tools of one reply.

use std::{sync::Arc, time::Instant};

use bulkhead_domain::{Message, Role, Timestamp, ToolCall, ToolReturn, ToolStatus, id::StepId};
use futures::future::join_all;
use serde_json::{Map, Value};

use super::{Driver, StepServices, step::Gathered};
use crate::{
    approval::plain,
    legacy,
    ports::{Executed, Invocation},
    toolset::Offered,
};

/// A call, ready to run or answered already.
enum Prepared {
    Run(Box<Invocation>),
    Answered(ToolReturn),
}

impl Driver {
    /// Runs calls and gathers one message with their results, in the order of the calls. They run
    /// at the same time where all of their tools allow it.
    pub(super) async fn execute(
        &mut self,
        calls: &[ToolCall],
        offered: &Offered,
        step_id: StepId,
        gathered: &mut Gathered,
    ) -> Vec<ToolReturn> {
        let returns = self
            .run_calls(calls, Some(offered), step_id, gathered)
            .await;
        gathered
            .messages
            .push(self.returned(returns.clone(), step_id));
        returns
    }

    /// The message of results of a step.
    pub(super) fn returned(&self, returns: Vec<ToolReturn>, step_id: StepId) -> Message {
        Message {
            step_id: Some(step_id),
            tool_returns: returns,
            ..self.frame(Role::Tool)
        }
    }

    /// Runs calls; without an offer whatever the agent has may be called.
    pub(super) async fn run_calls(
        &mut self,
        calls: &[ToolCall],
        offered: Option<&Offered>,
        step_id: StepId,
        gathered: &mut Gathered,
    ) -> Vec<ToolReturn> {
        let began = Instant::now();
        let services = self.services();
        let prepared: Vec<Prepared> = calls
            .iter()
            .map(|call| self.prepare_call(call, offered, step_id, &services))
            .collect();
        let ran: Vec<bool> = prepared
            .iter()
            .map(|call| matches!(call, Prepared::Run(_)))
            .collect();
        let at_once = prepared.iter().all(|call| match call {
            Prepared::Run(call) => call.tool.enable_parallel_execution == Some(true),
            Prepared::Answered(_) => true,
        });
        let executed: Vec<Executed> = if at_once {
            join_all(
                calls
                    .iter()
                    .zip(prepared)
                    .map(|(call, prepared)| self.run_one(call, prepared)),
            )
            .await
        } else {
            let mut executed = Vec::with_capacity(prepared.len());
            for (call, prepared) in calls.iter().zip(prepared) {
                executed.push(self.run_one(call, prepared).await);
            }
            executed
        };
        gathered.tools += began.elapsed();
        gathered.memory_changed |= services.is_changed();
        gathered.changed_blocks.extend(services.memory.written());
        let mut returns = Vec::with_capacity(executed.len());
        for ((call, ran), done) in calls.iter().zip(ran).zip(executed) {
            // A call that was refused is none for the rules.
            if ran {
                self.history.record(&call.name, &done.returned.text);
            }
            if let Some(receipt) = done.receipt {
                gathered.receipts.push((call.id.clone(), receipt));
            }
            returns.push(done.returned);
        }
        returns
    }

    fn prepare_call(
        &self,
        call: &ToolCall,
        offered: Option<&Offered>,
        step_id: StepId,
        services: &StepServices,
    ) -> Prepared {
        let refuse = |text| Prepared::Answered(self.not_run(call, text));
        let tool = self.tools.get(&call.name);
        let tool = match (tool, offered) {
            (Some(tool), None) => tool,
            (Some(tool), Some(offered)) if offered.allows(&call.name) => tool,
            (_, Some(offered)) => {
                return refuse(self.tools.refusal(offered, &call.name, &self.history));
            }
            (None, None) => {
                return refuse(format!(
                    "Error executing function {0}: ToolNotFound: {0} is not attached to this agent any more",
                    call.name
                ));
            }
        };
        let mut arguments = match arguments(&call.arguments) {
            Ok(arguments) => arguments,
            Err(reason) => {
                return refuse(format!(
                    "Error executing function {}: InvalidArguments: the arguments are not a JSON \
                     object ({reason}); call it again with an object like {{\"name\": \"value\"}}",
                    call.name
                ));
            }
        };
        if self.agent().agent_type.is_legacy() {
            legacy::strip(&mut arguments);
        }
        Prepared::Run(Box::new(Invocation {
            agent: Arc::clone(self.agent()),
            conversation_id: self.thread.conversation_id(),
            tool: Arc::clone(tool),
            arguments,
            tool_call_id: call.id.clone(),
            idempotency_key: format!("{step_id}/{}", call.id),
            run_id: Some(self.run.id),
            step_id: Some(step_id),
            cancel: self.cancel().child_token(),
            memory: Arc::clone(&services.memory) as _,
            recall: Arc::clone(&services.recall) as _,
            files: Arc::clone(&services.files) as _,
            agents: Arc::clone(&services.agents) as _,
        }))
    }

    async fn run_one(&self, call: &ToolCall, prepared: Prepared) -> Executed {
        let invocation = match prepared {
            Prepared::Answered(returned) => return answered(returned),
            Prepared::Run(invocation) => invocation,
        };
        // A call that has not begun does not begin in a run that was cancelled.
        if invocation.cancel.is_cancelled() {
            let (_, text) = crate::input::denied(Some(crate::approval::DENIED_ON_CANCEL));
            return answered(self.not_run(call, text));
        }
        // Nor in one in whose place another server works; its step is not stored either. Where that
        // can't be known, the result says why the call did not run.
        if let Err(error) = self.expect_turn().await {
            return answered(self.not_run(call, error.to_string()));
        }
        match self.engine.tools() {
            Ok(tools) => tools.call(*invocation).await,
            Err(error) => answered(self.not_run(call, error.to_string())),
        }
    }

    /// The result of a call that did not run.
    fn not_run(&self, call: &ToolCall, text: String) -> ToolReturn {
        let timezone = &self.agent().timezone;
        plain(call, ToolStatus::Error, text, Timestamp::now(), timezone)
    }
}

fn answered(returned: ToolReturn) -> Executed {
    Executed {
        returned,
        value: None,
        receipt: None,
    }
}

/// The arguments of a call. Models that call a tool without parameters may write nothing at all.
fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(Value::Null) => Ok(Map::new()),
        // Some models write the object as text once more.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            _ => Err("it is a string".to_owned()),
        },
        Ok(Value::Array(_)) => Err("it is an array".to_owned()),
        Ok(_) => Err("it is a number or a truth value".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_nothing() {
        for (text, fields) in [
            ("", 0),
            ("null", 0),
            ("{}", 0),
            (r#"{"a":1}"#, 1),
            (r#""{\"a\":1}""#, 1),
        ] {
            assert_eq!(arguments(text).map(|map| map.len()), Ok(fields), "{text}");
        }
        for text in ["[1]", "3", "\"x\"", "{", "roll(1)"] {
            assert!(arguments(text).is_err(), "{text}");
        }
    }
}
