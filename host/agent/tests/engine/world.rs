//! A database in memory, the offline model, and a few tools.

use std::{sync::Arc, time::Duration};

use bulkhead_agent::{
    AgentError, Decision, Engine, Event, Executed, Failure, Incoming, Input, Invocation, Listener,
    Listening, Models, Outcome, RunRequest, RunType, Tools, defaults, first_messages, pack,
};
use bulkhead_domain::{
    Agent, AgentType, Approval, Block, LlmConfig, Message, Role, Timestamp, ToolReturn, ToolRule,
    ToolStatus,
    id::{AgentId, BlockId},
};
use bulkhead_llm::{
    ChatReply, ChatRequest, Client, Endpoint, LlmError, Settings, chat::Deltas, scripted,
};
use bulkhead_sandbox::services::RecallFilter;
use bulkhead_store::{InstallationKey, MessageFilter, NewAgent, NewTool, Store, ToolType};
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
}

/// What an agent of a test begins with.
pub(crate) struct Setup {
    pub(crate) agent_type: AgentType,
    pub(crate) tools: &'static [&'static str],
    pub(crate) rules: Value,
    pub(crate) edit: fn(&mut Agent),
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            agent_type: AgentType::LettaV1Agent,
            tools: &[
                "echo",
                "fail",
                "panic",
                "remember",
                "hang",
                "twin",
                "flood",
                "send_message",
            ],
            rules: json!([]),
            edit: |_| {},
        }
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Arc::new(Scripted(client()))).await
    }

    /// With other models.
    pub(crate) async fn with(models: Arc<dyn Models>) -> Self {
        let key = InstallationKey::generate().unwrap();
        let store = Store::open("sqlite::memory:", key).await.unwrap();
        let others = ["ask", "conversation_search"];
        for name in Setup::default().tools.iter().chain(&others) {
            let mut tool = NewTool::new(*name, ToolType::Custom);
            tool.json_schema = Some(json!({"name": name, "description": "A test.",
                "parameters": {"type": "object", "properties": {"x": {"type": "string"}}, "required": []}}));
            tool.enable_parallel_execution = Some(["twin", "flood"].contains(name));
            store.upsert_tool(tool).await.unwrap();
        }
        let engine = Engine::new(store.clone(), models);
        engine.set_tools(Arc::new(TestTools));
        Self { engine, store }
    }

    pub(crate) async fn agent(&self, setup: Setup) -> AgentId {
        let new = self.unstored(setup).await;
        self.store.create_agent(&new).await.unwrap();
        new.agent.id
    }

    pub(crate) async fn unstored(&self, setup: Setup) -> NewAgent {
        let now = Timestamp::now();
        let config = LlmConfig {
            model_endpoint: Some(scripted::ENDPOINT.to_owned()),
            parallel_tool_calls: Some(true),
            ..LlmConfig::new("bulkhead", "openai", scripted::MODEL, 100_000)
        };
        let agent = json!({
            "id": AgentId::random(), "name": "Test", "agent_type": setup.agent_type,
            "system": "Test.", "llm_config": config, "recompiled_at": now,
            "created_at": now, "updated_at": now,
        });
        let mut agent: Agent = serde_json::from_value(agent).unwrap();
        agent.tool_rules = serde_json::from_value(setup.rules).unwrap();
        let names: Vec<String> = setup.tools.iter().map(|&name| name.to_owned()).collect();
        let has_rules = !agent.tool_rules.is_empty();
        let base = defaults::base_rules(setup.agent_type, &names, Some(false), has_rules);
        agent.tool_rules.extend::<Vec<ToolRule>>(base);
        (setup.edit)(&mut agent);
        let block = json!({"id": BlockId::random(), "label": "human", "value": "Name: Bob",
            "limit": 100, "version": 1, "created_at": now, "updated_at": now});
        let blocks: Vec<Block> = vec![serde_json::from_value(block).unwrap()];
        let messages = first_messages(&agent, &blocks, None);
        agent.message_ids = messages.iter().map(|message| message.id).collect();
        let mut tool_ids = Vec::new();
        for name in setup.tools {
            tool_ids.push(self.store.tool_by_name(name).await.unwrap().unwrap().id);
        }
        let mut new = NewAgent::new(agent);
        new.new_blocks = blocks;
        new.tool_ids = tool_ids;
        new.messages = messages;
        new
    }

    pub(crate) async fn send(&self, request: RunRequest) -> Result<Outcome, Failure> {
        let begun = self.engine.begin(request).await.unwrap();
        self.engine.drive(begun, Listener::none()).await
    }

    pub(crate) async fn say(&self, agent: AgentId, text: &str) -> Outcome {
        self.send(said(agent, text)).await.unwrap()
    }

    pub(crate) async fn decide(
        &self,
        agent: AgentId,
        decisions: &[(&str, bool)],
    ) -> Result<Outcome, AgentError> {
        let decision = decisions.iter().map(|(call, approve)| Approval::Approval {
            tool_call_id: (*call).to_owned(),
            approve: *approve,
            reason: (!approve).then(|| "no way".to_owned()),
        });
        let mut request = RunRequest::new(agent, RunType::Message);
        request.input.decision = Some(Decision::Each(decision.collect()));
        self.send(request).await.map_err(|failure| failure.error)
    }

    pub(crate) async fn history(&self, agent: AgentId) -> Vec<Message> {
        let filter = MessageFilter {
            agent_id: Some(agent),
            ..MessageFilter::default()
        };
        self.store.messages(&filter).await.unwrap()
    }

    /// One word for each message after the first.
    pub(crate) async fn words(&self, agent: AgentId) -> String {
        self.agrees(agent).await;
        let history = self.history(agent).await;
        let words: Vec<String> = history.iter().skip(1).map(word).collect();
        words.join(" ")
    }

    /// The database and the agent's context agree.
    pub(crate) async fn agrees(&self, agent: AgentId) {
        let disagreements = self.store.verify_thread(&agent, None).await.unwrap();
        assert!(disagreements.is_empty(), "{disagreements:?}");
    }
}

pub(crate) fn said(agent: AgentId, text: &str) -> RunRequest {
    let mut request = RunRequest::new(agent, RunType::Message);
    request.input = Input {
        decision: None,
        messages: vec![Incoming::text(Role::User, text)],
    };
    request
}

/// Begins a run that is listened to.
pub(crate) async fn listen(
    world: &World,
    mut request: RunRequest,
    tokens: bool,
) -> (
    tokio::sync::mpsc::Receiver<Event>,
    tokio::task::JoinHandle<Result<Outcome, Failure>>,
) {
    request.run_type = RunType::Streaming;
    request.listening = Listening {
        tokens,
        ends_with_listener: true,
    };
    let begun = world.engine.begin(request).await.unwrap();
    let (listener, events) = Listener::channel();
    let engine = world.engine.clone();
    let driven = tokio::spawn(async move { engine.drive(begun, listener).await });
    (events, driven)
}

fn word(message: &Message) -> String {
    match message.role {
        Role::User => "user".to_owned(),
        Role::System => "system".to_owned(),
        Role::Summary => "summary".to_owned(),
        Role::Assistant if message.tool_calls.is_empty() => "text".to_owned(),
        Role::Assistant => {
            let names = message.tool_calls.iter().map(|call| call.name.as_str());
            format!("call:{}", names.collect::<Vec<_>>().join("+"))
        }
        Role::Tool => {
            let returns = message
                .tool_returns
                .iter()
                .map(|returned| match returned.status {
                    ToolStatus::Success => "ok",
                    ToolStatus::Error => "error",
                });
            format!("return:{}", returns.collect::<Vec<_>>().join("+"))
        }
        Role::Approval if message.is_approval_request() => "ask".to_owned(),
        Role::Approval => "decision".to_owned(),
    }
}

pub(crate) fn client() -> Client {
    Client::new(Settings::default()).unwrap()
}

struct Scripted(Client);

/// Where the offline model is reached.
pub(crate) fn nowhere() -> Endpoint {
    Endpoint {
        name: scripted::PROVIDER_NAME.to_owned(),
        provider: "Bulkhead".to_owned(),
        provider_id: None,
        base_url: scripted::ENDPOINT.to_owned(),
        api_key: None,
        headers: Vec::new(),
    }
}

impl Models for Scripted {
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
        Box::pin(self.0.chat(request, deltas))
    }
}

/// `ask` asks the agent `x`, `conversation_search` gives the
/// first hit for `x` among answers and results. `echo` and `twin` give their `x`, `flood` 5 MiB, `fail` fails,
/// `panic` panics, `hang` waits for its end, `remember` writes its
/// `x` into the block `human`.
struct TestTools;

impl Tools for TestTools {
    fn call(&self, call: Invocation) -> BoxFuture<'_, Executed> {
        Box::pin(async move {
            let x = call
                .arguments
                .get("x")
                .and_then(Value::as_str)
                .unwrap_or("");
            let (status, text) = match call.tool.name.as_str() {
                "fail" => (ToolStatus::Error, "it failed".to_owned()),
                "flood" => (ToolStatus::Success, "flood ".repeat((5 << 20) / 6)),
                "panic" => panic!("as asked"),
                "hang" => {
                    call.cancel.cancelled().await;
                    (ToolStatus::Error, "it was cancelled".to_owned())
                }
                "remember" => {
                    let block = call.memory.get("human").await.unwrap();
                    let put = call.memory.put("human", x.to_owned(), block.version);
                    put.await.unwrap();
                    (ToolStatus::Success, x.to_owned())
                }
                "ask" => {
                    let question = "What do you say?";
                    match call.agents.ask(x, question.to_owned()).await {
                        Ok(reply) => (ToolStatus::Success, reply.text),
                        Err(error) => (ToolStatus::Error, format!("{error:?}")),
                    }
                }
                "conversation_search" => {
                    let filter = RecallFilter {
                        limit: 1,
                        roles: vec!["assistant".to_owned(), "tool".to_owned()],
                        ..RecallFilter::default()
                    };
                    let found = call.recall.search_conversation(Some(x.to_owned()), filter);
                    let found = found.await.unwrap().into_iter();
                    let found = found.map(|turn| format!("{}: {}", turn.role, turn.text));
                    (ToolStatus::Success, found.collect::<Vec<_>>().join("; "))
                }
                "twin" => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    (ToolStatus::Success, x.to_owned())
                }
                _ => (ToolStatus::Success, x.to_owned()),
            };
            let now = Timestamp::now();
            Executed {
                returned: ToolReturn {
                    tool_call_id: call.tool_call_id,
                    name: call.tool.name.clone(),
                    status,
                    packed: pack::tool_return(status, &Value::from(text.as_str()), now, "UTC"),
                    text,
                    stdout: None,
                    stderr: None,
                    parts: None,
                    receipt_id: None,
                },
                value: None,
                receipt: None,
            }
        })
    }
}
