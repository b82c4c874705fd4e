//! The second act: an agent with memory talks, calls tools in three languages, and remembers.

use bulkhead_domain::Receipt;
use futures::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Play,
    sources::{self, AgentTool},
    story::{AgentTold, BlockTold},
    transcript::{Transcript, Turn},
};
use crate::cli::{
    error::CliError,
    exit::Exit,
    receipt,
    screen::Paint,
    sse::Parser,
    view::{array, text},
};

/// The block in which the agent keeps what it knows of whoever talks to it.
const BLOCK: &str = "human";
const BEFORE: &str = "Name: Ada";
/// What it is told to remember.
const FACT: &str = "Sails the Halcyon, out of Trieste.";
/// Between two pieces of the model's stream: as fast as one reads.
const PAUSE: &str = "pause 25ms";
/// What a conversation is about, as the script tells them apart.
const SECOND: &str = "Please remember";

impl Play {
    /// The whole act.
    pub(super) async fn talk(&mut self) -> Result<(), CliError> {
        let tools = sources::tools(&format!("{}/", self.website.origin()));
        self.push("memory", bulkhead_tools::MEMORY).await?;
        let mut ids = Vec::new();
        for tool in &tools {
            if let Some(source) = &tool.source {
                ids.push(self.save(tool, source).await?);
            }
        }
        if let Err(reason) = bulkhead_tools::PYTHON {
            let reason = reason.lines().next().unwrap_or_default();
            self.story.doing(&format!(
                "No Python tool: this build has no Python runtime: {reason}"
            ));
        }
        let agent = self.make_agent(&tools, &ids).await?;
        let before = self.block(&agent).await?;

        let questions: Vec<&str> = tools.iter().map(|tool| tool.question.as_str()).collect();
        let first = self
            .turn(&agent, &format!("Hello! {}", questions.join(" ")))
            .await?;
        let said = format!("{SECOND} that I sail the Halcyon, out of Trieste.");
        let second = self.turn(&agent, &said).await?;
        let after = self.block(&agent).await?;

        let turns = vec![first, second];
        let as_told =
            is_as_told(&turns, tools.len()) && !before.contains(FACT) && after.contains(FACT);
        let told = AgentTold {
            turns,
            memory: vec![BlockTold {
                label: BLOCK.to_owned(),
                before,
                after,
            }],
            as_told,
        };
        self.tell(&told, &tools);
        self.story.agent(told);
        Ok(())
    }

    /// Saves a tool from source; gives its id.
    async fn save(&self, tool: &AgentTool, source: &Value) -> Result<String, CliError> {
        let (name, language) = (tool.name, tool.language);
        self.story.doing(&format!(
            "Saving {name}, a function in {language}; the first time, its runtime is compiled: some ten seconds …"
        ));
        let saved = self.client.post("/v1/tools/", source).await?;
        Ok(text(&saved, "id").to_owned())
    }

    /// Makes the agent; gives its id.
    async fn make_agent(&self, tools: &[AgentTool], ids: &[String]) -> Result<String, CliError> {
        let body = json!({
            "name": "harbour-master",
            "model": "bulkhead/scripted",
            "parallel_tool_calls": true,
            "system": "You are the harbour master of a demonstration.",
            "memory_blocks": [{"label": BLOCK, "value": BEFORE}],
            "include_base_tools": false,
            "tools": ["fetch_title", "memory_insert"],
            "tool_ids": ids,
            "metadata": {"script": script(tools)},
        });
        let agent = self.client.post("/v1/agents/", &body).await?;
        self.story.doing(&format!(
            "An agent is made: {}, model bulkhead/scripted (offline, no language model), tools {}.",
            text(&agent, "name"),
            tools
                .iter()
                .map(|tool| format!("{} ({})", tool.name, tool.language))
                .chain(["memory_insert".to_owned()])
                .collect::<Vec<_>>()
                .join(", ")
        ));
        Ok(text(&agent, "id").to_owned())
    }

    /// What the agent's block says.
    async fn block(&self, agent: &str) -> Result<String, CliError> {
        let path = format!("/v1/agents/{agent}/core-memory/blocks/{BLOCK}");
        Ok(text(&self.client.get(&path).await?, "value").to_owned())
    }

    /// Says something and tells the answer as it streams; then asks what its calls consumed.
    async fn turn(&self, agent: &str, said: &str) -> Result<Turn, CliError> {
        let broken = |error: String| CliError::new(Exit::Server, "broken_stream", error);
        let body = json!({"input": said, "stream_tokens": true});
        let path = format!("/v1/agents/{agent}/messages/stream");
        let request = self.client.request(Method::POST, &path).json(&body);
        let mut transcript = Transcript::begin(self.story.screen, said);
        let mut bytes = self.client.send(request).await?.bytes_stream();
        let mut parser = Parser::default();
        while let Some(chunk) = bytes.next().await {
            let chunk = chunk.map_err(|error| broken(format!("the stream broke off: {error}")))?;
            for (name, data) in parser.feed(&chunk).map_err(broken)? {
                if name == "error" {
                    return Err(broken(format!("the agent's run failed: {data}")));
                }
                // The last event, `[DONE]`, is no JSON.
                if let Ok(event) = serde_json::from_str(&data) {
                    transcript.event(&event);
                }
            }
        }
        let mut turn = transcript.end();
        self.add_receipts(&mut turn).await?;
        Ok(turn)
    }

    /// The receipts hang on the steps of the run.
    async fn add_receipts(&self, turn: &mut Turn) -> Result<(), CliError> {
        let path = format!("/v1/runs/{}/steps?order=asc", turn.run_id);
        let steps = self.client.get(&path).await?;
        let steps = steps.as_array().map_or(&[][..], Vec::as_slice);
        for entry in steps.iter().flat_map(|step| array(step, "receipts")) {
            let id = text(entry, "tool_call_id");
            if let Some(call) = turn.calls.iter_mut().find(|call| call.id == id) {
                call.receipt = serde_json::from_value::<Receipt>(entry["receipt"].clone()).ok();
            }
        }
        Ok(())
    }

    /// What is left of the conversation, for people.
    fn tell(&self, told: &AgentTold, tools: &[AgentTool]) {
        let (story, screen) = (&self.story, self.story.screen);
        for block in &told.memory {
            let title = format!(
                "Its memory block “{}”, which every model call sees",
                block.label
            );
            story.line(format_args!("\n   {}", screen.paint(title, Paint::Bold)));
            for (when, value) in [("before", &block.before), ("after", &block.after)] {
                let value = value.replace('\n', "\n             ");
                let when = screen.paint(format_args!("{when:<10}"), Paint::Dim);
                story.line(format_args!("   {when}{value}"));
            }
        }
        let title = "What each tool call consumed, by the receipts of the steps";
        story.line(format_args!("\n   {}", screen.paint(title, Paint::Bold)));
        for call in told.turns.iter().flat_map(|turn| &turn.calls) {
            let known = tools.iter().find(|tool| tool.name == call.tool);
            let language = known.map_or("Rust", |tool| tool.language);
            let name = format!("{} ({language})", call.tool);
            match &call.receipt {
                Some(receipt) => story.line(format_args!(
                    "   {name:<26}{}  {}",
                    screen.paint(receipt.outcome, Paint::Green),
                    screen.paint(receipt::summary(receipt), Paint::Dim)
                )),
                None => story.line(format_args!(
                    "   {name:<26}{}",
                    screen.paint("no receipt", Paint::Red)
                )),
            }
        }
    }
}

/// What the offline model answers: whom to call is written here, what the calls return is not.
fn script(tools: &[AgentTool]) -> Value {
    let calls: Vec<String> = tools
        .iter()
        .map(|tool| format!("call {} with {}", tool.name, tool.arguments))
        .collect();
    let first = format!(
        "think There is a tool for each question, and none needs another's answer: all at once.\n\
         say I will look that up.\n{PAUSE}\n{}\nthen\n{PAUSE}",
        calls.join("\n")
    );
    let line = json!({"label": BLOCK, "new_string": FACT});
    let second = format!(
        "think That is worth keeping. It belongs into the block about the human.\n{PAUSE}\n\
         call memory_insert with {line}\nthen\n{PAUSE}\n\
         say I wrote that into my memory: from now on it is in view, whatever we talk about."
    );
    json!([{"when": SECOND, "reply": second}, {"reply": first}])
}

/// Whether the first turn called so many tools and the second one, and everything succeeded.
fn is_as_told(turns: &[Turn], tools: usize) -> bool {
    let counts: Vec<usize> = turns.iter().map(|turn| turn.calls.len()).collect();
    let ended = turns
        .iter()
        .all(|turn| turn.stop_reason == "end_turn" && !turn.said.is_empty());
    let mut calls = turns.iter().flat_map(|turn| &turn.calls);
    let succeeded = calls.all(|call| {
        let receipt = call.receipt.as_ref();
        call.status == "success"
            && receipt.is_some_and(|receipt| receipt.outcome == bulkhead_domain::Outcome::Ok)
    });
    counts == [tools, 1] && ended && succeeded
}
