//! The body of a request to an agent, as clients send it.

use bulkhead_llm::ToolSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::view::View;
use crate::{
    contract::{
        Refusal,
        body::{self, Schema},
        fault::Fault,
    },
    http::error::{self, Rejection},
};

/// Steps of one request at most, whatever a client asks for: each is paid for.
const STEPS_MAX: i64 = 10_000;

/// What a request to an agent says. Which fields it may have, the schemas of the contract know.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SendBody {
    pub(super) messages: Option<Vec<Value>>,
    pub(super) input: Option<Value>,
    #[serde(default = "steps")]
    max_steps: i64,
    #[serde(default = "yes")]
    use_assistant_message: bool,
    #[serde(default = "send_message")]
    assistant_message_tool_name: String,
    #[serde(default = "message")]
    assistant_message_tool_kwarg: String,
    include_return_message_types: Option<Vec<String>>,
    client_tools: Option<Vec<ClientTool>>,
    pub(super) client_skills: Option<Vec<ClientSkill>>,
    pub(super) override_model: Option<String>,
    pub(super) override_system: Option<String>,
    #[serde(default)]
    include_compaction_messages: bool,
    #[serde(default)]
    pub(super) return_logprobs: bool,
    pub(super) top_logprobs: Option<i64>,
    pub(super) streaming: Option<bool>,
    #[serde(default)]
    pub(super) stream_tokens: bool,
    #[serde(default = "yes")]
    pub(super) include_pings: bool,
    #[serde(default)]
    pub(super) background: bool,
    pub(super) callback_url: Option<String>,
    pub(crate) agent_id: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct ClientTool {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

/// Instructions that only the client can read.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ClientSkill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) location: String,
}

/// Whether an element says something as the system or as the agent itself.
fn speaks_for_another(element: &Value) -> bool {
    let role = element.get("role").and_then(Value::as_str);
    role.is_some_and(|role| role != "user")
}

fn steps() -> i64 {
    i64::from(bulkhead_agent::request::STEPS_DEFAULT)
}

fn yes() -> bool {
    true
}

fn send_message() -> String {
    "send_message".to_owned()
}

fn message() -> String {
    "message".to_owned()
}

/// By which route a body comes, which decides about its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// To an agent, with or without a stream.
    Agent,
    /// To an agent, and nobody waits.
    Async,
    /// To a conversation.
    Conversation,
}

macro_rules! bodies {
    ($($name:ident = $schema:literal;)*) => {$(
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct $name(SendBody);

        impl Schema for $name {
            const NAME: &str = $schema;
        }
    )*};
}

bodies! {
    AgentBody = "LettaStreamingRequest";
    AsyncBody = "LettaAsyncRequest";
    ConversationBody = "ConversationMessageRequest";
}

impl SendBody {
    /// A body of this route, or everything that is wrong with it.
    pub(crate) fn read(route: Route, mut value: Value) -> Result<Self, Refusal> {
        if let Value::Object(fields) = &mut value {
            complete(fields);
            check_sources(fields)?;
        }
        let read: Self = match route {
            Route::Agent => body::read::<AgentBody>(&value)?.0,
            Route::Async => body::read::<AsyncBody>(&value)?.0,
            Route::Conversation => body::read::<ConversationBody>(&value)?.0,
        };
        if read.messages.as_ref().is_some_and(Vec::is_empty) {
            return Err(Refusal::unprocessable("Messages must not be empty"));
        }
        Ok(read)
    }

    /// Refuses what makes another agent of this one for a request: who may send messages, and decides
    /// nothing about the agent, asks it as it was made. Fewer steps than usual are nobody's loss.
    pub(crate) fn expect_as_made(&self) -> Result<(), Refusal> {
        let given = [
            ("override_model", self.override_model.is_some()),
            ("override_system", self.override_system.is_some()),
            (
                "client_tools",
                self.client_tools.iter().flatten().next().is_some(),
            ),
            (
                "client_skills",
                self.client_skills.iter().flatten().next().is_some(),
            ),
            ("max_steps", self.max_steps > steps()),
            (
                "messages of another role than user",
                self.messages.iter().flatten().any(speaks_for_another),
            ),
        ];
        let given: Vec<_> = given
            .iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(field, _)| *field)
            .collect();
        if given.is_empty() {
            return Ok(());
        }
        let text = format!(
            "only an owner of the project changes for a request what its agents are: leave out {} \
             (max_steps may be up to {})",
            given.join(", "),
            steps()
        );
        Err(Rejection::with(&error::FORBIDDEN, text).into())
    }

    /// Refuses options of streams for an answer that is none.
    pub(crate) fn check_unstreamed(&self) -> Result<(), Refusal> {
        let reasons = [
            (
                self.stream_tokens,
                "stream_tokens can only be true when streaming=true",
            ),
            (
                !self.include_pings,
                "include_pings can only be set to false when streaming=true",
            ),
            (
                self.background,
                "background can only be true when streaming=true",
            ),
        ];
        let reasons = reasons.iter().filter(|(wrong, _)| *wrong);
        let reasons: Vec<_> = reasons.map(|(_, reason)| *reason).collect();
        if reasons.is_empty() {
            return Ok(());
        }
        Err(Refusal::unprocessable(format!(
            "Streaming options set without streaming enabled. {}. Either set streaming=true or use \
             default values for streaming options.",
            reasons.join("; ")
        )))
    }

    /// Whether a conversation answers with a stream, as it does unless told otherwise.
    pub(crate) fn is_streaming(&self) -> bool {
        self.streaming.unwrap_or(true)
    }

    /// How the client wants messages shown.
    pub(crate) fn view(&self) -> View {
        View {
            use_assistant_message: self.use_assistant_message,
            tool_name: self.assistant_message_tool_name.clone(),
            tool_kwarg: self.assistant_message_tool_kwarg.clone(),
            types: self.include_return_message_types.clone(),
            summaries: self.include_compaction_messages,
        }
    }

    /// The same, as it is kept with the run.
    pub(super) fn config(&self) -> Value {
        json!({
            "use_assistant_message": self.use_assistant_message,
            "assistant_message_tool_name": self.assistant_message_tool_name,
            "assistant_message_tool_kwarg": self.assistant_message_tool_kwarg,
            "include_return_message_types": self.include_return_message_types,
        })
    }

    /// Calls of the model at most; the schemas take none below 1.
    pub(super) fn steps(&self) -> u32 {
        u32::try_from(self.max_steps.min(STEPS_MAX)).unwrap_or(1)
    }

    /// The tools that the client runs.
    pub(super) fn client_tools(&self) -> Vec<ToolSpec> {
        let tools = self.client_tools.iter().flatten();
        let tools = tools.map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone().unwrap_or_default(),
            parameters: tool
                .parameters
                .clone()
                .unwrap_or_else(|| json!({ "type": "object", "properties": {} })),
        });
        tools.collect()
    }
}

/// Brings a body into the one form that the schemas know: no null for what has a default, the newer
/// name of the system prompt, and a type on every message.
fn complete(fields: &mut Map<String, Value>) {
    fields.retain(|_, value| !value.is_null());
    if let Some(system) = fields.remove("system") {
        fields.entry("override_system").or_insert(system);
    }
    let messages = fields.get_mut("messages").and_then(Value::as_array_mut);
    for message in messages
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if message.get("type").is_none_or(Value::is_null) {
            let decides = ["approve", "approval_request_id"];
            let kind = match decides.iter().any(|field| message.contains_key(*field)) {
                true => "approval",
                false => "message",
            };
            message.insert("type".to_owned(), kind.into());
        }
        for key in ["approvals", "tool_returns"] {
            let decisions = message.get_mut(key).and_then(Value::as_array_mut);
            for decision in decisions
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                if !decision.contains_key("type") {
                    let kind = match decision.contains_key("tool_return") {
                        true => "tool",
                        false => "approval",
                    };
                    decision.insert("type".to_owned(), kind.into());
                }
            }
        }
    }
}

/// Refuses a body with two sources of messages, or none.
fn check_sources(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let message = match (
        fields.contains_key("input"),
        fields.contains_key("messages"),
    ) {
        (true, true) => {
            "Value error, Cannot specify both 'input' and 'messages'. Use one or the other."
        }
        (false, false) => "Value error, Must specify either 'input' or 'messages'.",
        _ => return Ok(()),
    };
    let input = Value::Object(fields.clone());
    let fault = Fault::new("value_error", vec![json!("body")], message, input);
    Err(Refusal::invalid(&[fault], &[]))
}
