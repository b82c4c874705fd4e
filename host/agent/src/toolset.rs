//! The tools of one request: the agent's own, and those that the client runs.

use std::{collections::BTreeSet, sync::Arc};

use bulkhead_domain::{Agent, RuleBook, ToolCall, rule_book::CallHistory, rule_book::Offer};
use bulkhead_llm::{ToolChoice, ToolSpec};
use bulkhead_store::ToolRecord;
use serde_json::{Map, Value, json};

use crate::{input::python_list, legacy};

/// The tools of one request.
pub(crate) struct ToolSet {
    tools: Vec<Arc<ToolRecord>>,
    names: Vec<String>,
    /// Tools that the client runs, which hide those of the same name.
    client: Vec<ToolSpec>,
    book: RuleBook,
    legacy: bool,
    /// Whether the model is asked for its thoughts as an argument.
    thinking: bool,
}

/// What a model is offered in one step.
pub(crate) struct Offered {
    pub(crate) specs: Vec<ToolSpec>,
    pub(crate) choice: ToolChoice,
    offer: Offer,
}

impl ToolSet {
    pub(crate) fn new(agent: &Agent, tools: Vec<Arc<ToolRecord>>, client: Vec<ToolSpec>) -> Self {
        let tools: Vec<Arc<ToolRecord>> = tools
            .into_iter()
            .filter(|tool| client.iter().all(|own| own.name != tool.name))
            .collect();
        Self {
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            tools,
            client,
            book: RuleBook::new(&agent.tool_rules),
            legacy: agent.agent_type.is_legacy(),
            thinking: agent.llm_config.put_inner_thoughts_in_kwargs == Some(true),
        }
    }

    pub(crate) fn book(&self) -> &RuleBook {
        &self.book
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<ToolRecord>> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// What the model is offered after what was called so far.
    pub(crate) fn offered(&self, history: &CallHistory) -> Offered {
        let offer = self.book.offer(&self.names, history);
        let own = self
            .tools
            .iter()
            .filter(|tool| offer.tools.contains(&tool.name));
        let mut specs: Vec<ToolSpec> = own
            .map(|tool| {
                let mut spec = spec(tool);
                if self.legacy {
                    let exits = self.book.exits(&tool.name);
                    legacy::extend(&mut spec.parameters, exits, self.thinking);
                }
                spec
            })
            .collect();
        let choice = match specs.as_slice() {
            [only] if offer.forced && self.client.is_empty() => ToolChoice::Tool(only.name.clone()),
            [] => ToolChoice::Auto,
            _ if offer.forced || self.legacy => ToolChoice::Required,
            _ => ToolChoice::Auto,
        };
        specs.extend(self.client.iter().cloned());
        Offered {
            specs,
            choice,
            offer,
        }
    }

    /// Whether the call waits for a person or the client. One that is not offered does not: it is
    /// refused at once.
    pub(crate) fn waits(&self, offered: &Offered, tool: &str) -> bool {
        self.client.iter().any(|own| own.name == tool)
            || (self.book.requires_approval(tool) && offered.allows(tool))
    }

    /// What a model is told of a call that is not offered now.
    pub(crate) fn refusal(&self, offered: &Offered, tool: &str, history: &CallHistory) -> String {
        let names: BTreeSet<&str> = offered
            .specs
            .iter()
            .map(|spec| spec.name.as_str())
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let mut text = format!(
            "[ToolConstraintError] Cannot call {tool}, valid tools include: {}.",
            python_list(&names)
        );
        let hints = self.book.hints(tool, history.last());
        if !hints.is_empty() {
            text.push_str("\n** Hint: Possible rules that were violated:");
            for hint in hints {
                text.push_str("\n\t- ");
                text.push_str(&hint);
            }
        }
        text
    }
}

impl Offered {
    /// Whether the tool may be called now.
    pub(crate) fn allows(&self, tool: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == tool)
    }

    /// Puts the arguments that rules prescribe in the place of the model's.
    pub(crate) fn prefill(&self, call: &mut ToolCall) {
        let Some(prescribed) = self.offer.prefilled.get(&call.name) else {
            return;
        };
        let mut arguments: Map<String, Value> =
            serde_json::from_str(&call.arguments).unwrap_or_default();
        arguments.extend(
            prescribed
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        call.arguments = Value::Object(arguments).to_string();
    }
}

/// A tool as a model is offered it.
pub(crate) fn spec(tool: &ToolRecord) -> ToolSpec {
    let schema = tool.json_schema.as_ref();
    let field = |name: &str| schema.and_then(|schema| schema.get(name));
    let mut parameters = field("parameters")
        .cloned()
        .unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    remove_parameter(&mut parameters, "request_heartbeat");
    let description = field("description").and_then(Value::as_str);
    let description = description.or(tool.description.as_deref());
    ToolSpec {
        name: tool.name.clone(),
        description: description.unwrap_or_default().to_owned(),
        parameters,
    }
}

/// Takes a parameter out of a schema, where it is.
fn remove_parameter(parameters: &mut Value, name: &str) {
    if let Some(properties) = parameters["properties"].as_object_mut() {
        properties.remove(name);
    }
    if let Some(required) = parameters["required"].as_array_mut() {
        required.retain(|parameter| parameter != name);
    }
}
