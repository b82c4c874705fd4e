//! The first act: tools are called, granted, denied, stopped and accounted for.

use std::time::Instant;

use bulkhead_sandbox::Event;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Play, story::Step, wider};
use crate::cli::{
    call,
    error::CliError,
    exit::Exit,
    receipt::short,
    units::{show_bytes, show_micros},
    view::text,
};

/// The component that the demo shows, and its name on the server.
const DEMO: &str = "demo";
const FETCH: &str = "fetch_webpage";

impl Play {
    /// The whole act.
    pub(super) async fn call_tools(&mut self) -> Result<(), CliError> {
        self.push(DEMO, bulkhead_tools::DEMO).await?;
        self.push(FETCH, bulkhead_tools::FETCH_WEBPAGE).await?;
        let page = format!("{}/", self.website.origin());

        let title = "A tool is called: a fresh sandbox, the input checked, a receipt made";
        self.call(
            title,
            (DEMO, "greet"),
            json!({"name": "Ada"}),
            json!({}),
            "ok",
        )
        .await?;
        let title = "Input against the schema: nothing runs, and a model learns what to repair";
        self.call(
            title,
            (DEMO, "greet"),
            json!({"name": 7}),
            json!({}),
            "invalid_input",
        )
        .await?;

        let title = "A web page without a grant: the tool may wish, a person has to grant";
        let tool = (DEMO, "fetch_title");
        self.call(title, tool, json!({"url": page}), json!({}), "denied")
            .await?;
        self.grant(DEMO, "fetch_title").await?;
        let title = "The same call with the grant";
        self.call(title, tool, json!({"url": page}), json!({}), "ok")
            .await?;
        self.grant(FETCH, "fetch_webpage").await?;
        let title = "A built-in tool turns the page into Markdown, inside the sandbox";
        self.call(
            title,
            (FETCH, "fetch_webpage"),
            json!({"url": page}),
            json!({}),
            "ok",
        )
        .await?;

        let title = "An endless loop: fuel ends it, the server goes on";
        let limits = json!({"fuel": 50_000_000});
        self.call(title, (DEMO, "spin"), json!({}), limits, "out_of_fuel")
            .await?;
        let title = "A tool that takes all memory: it gets 16 MiB";
        let limits = json!({"memory_bytes": 16 << 20});
        self.call(title, (DEMO, "hoard"), json!({}), limits, "out_of_memory")
            .await?;
        let title = "Progress arrives while the tool runs";
        self.call(
            title,
            (DEMO, "progress"),
            json!({"steps": 3}),
            json!({}),
            "ok",
        )
        .await?;
        self.upgrade(bulkhead_tools::DEMO).await
    }

    /// Installs a component.
    pub(super) async fn push(&mut self, name: &str, bytes: &[u8]) -> Result<(), CliError> {
        let size = show_bytes(bytes.len() as u64);
        self.story.doing(&format!(
            "Pushing {name} ({size}); compiling takes a moment …"
        ));
        let start = Instant::now();
        let view = self.client.push(name, bytes.to_vec()).await?;
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        let digest = short(text(&view, "digest")).to_owned();
        self.story.doing(&format!(
            "… {digest} is {} after {}.",
            text(&view, "status"),
            show_micros(micros)
        ));
        Ok(())
    }

    /// Calls a tool, streaming, and tells how it went.
    async fn call(
        &mut self,
        title: &str,
        (component, tool): (&str, &str),
        input: Value,
        limits: Value,
        expected: &'static str,
    ) -> Result<(), CliError> {
        let path = format!("/v1/components/{component}/tools/{tool}/call");
        let mut body = json!({"input": input});
        if limits != json!({}) {
            body["limits"] = limits;
        }
        let shown = path.replacen(component, short(component), 1);
        let request = format!("POST {shown} {body}");
        self.story.begin(title, &request);
        body["stream"] = json!(true);
        let mut events: Vec<Event> = Vec::new();
        let sent = self.client.request(Method::POST, &path).json(&body);
        let story = &self.story;
        let answer = call::stream(&self.client, sent, |event| {
            story.event(event);
            events.push(event.clone());
        });
        let (outcome, text, receipt) = match answer.await {
            Ok(result) => (
                text(&result, "outcome").to_owned(),
                said(&result),
                Some(result["receipt"].clone()),
            ),
            // What the server refuses before anything runs has no receipt.
            Err(error) if error.exit != Exit::Server => (error.code.clone(), refusal(&error), None),
            Err(error) => return Err(error),
        };
        // The step about progress is about nothing else.
        let progressed = tool != "progress" || !events.is_empty();
        let as_told = outcome == expected && progressed;
        self.story.end(Step {
            title: title.to_owned(),
            request,
            expected,
            outcome,
            text,
            events,
            receipt,
            as_told,
        });
        Ok(())
    }

    /// Grants a tool the demo's website, whose address is private.
    async fn grant(&mut self, component: &str, tool: &str) -> Result<(), CliError> {
        let rule = json!({
            "host": self.website.address.ip().to_string(),
            "scheme": "http",
            "port": self.website.address.port(),
            "methods": ["GET"],
            "private": ["127.0.0.0/8"],
        });
        let grant = json!({"component": component, "tool": tool, "capabilities": {"http": [rule]}});
        self.client.post("/v1/grants", &grant).await?;
        let host = self.website.origin();
        self.story.doing(&format!(
            "\nA person grants: bulkhead tool grant {component} --tool {tool} --allow-host {host} --allow-private 127.0.0.0/8"
        ));
        Ok(())
    }

    /// A new version wants more: nothing of it runs before a person agreed.
    async fn upgrade(&mut self, demo: &[u8]) -> Result<(), CliError> {
        let title = "A new version wishes for more: it waits for a person";
        let request = format!("POST /v1/components?name={DEMO}");
        self.story.begin(title, &request);
        let wishes = json!({"state": true});
        let bytes = wider::version(demo, "greet", &wishes);
        let view = self.client.push(DEMO, bytes).await?;
        let changes = &view["diff"]["wishes"]["added"];
        let changes = changes.as_array().map_or(&[][..], Vec::as_slice);
        let lines = changes
            .iter()
            .map(|change| format!("+ {} {}", text(change, "capability"), text(change, "value")));
        let lines = lines.collect::<Vec<_>>().join("  ");
        self.end(title, &request, "pending", text(&view, "status"), lines);

        let digest = text(&view, "digest").to_owned();
        let title = "A call of the version that waits";
        self.call(
            title,
            (&digest, "greet"),
            json!({"name": "Ada"}),
            json!({}),
            "consent_required",
        )
        .await?;

        let title = "The person accepts it";
        let request = format!("POST /v1/components/{}/activate", short(&digest));
        self.story.begin(title, &request);
        let path = format!("/v1/components/{digest}/activate");
        let view = self.client.post(&path, &json!({})).await?;
        let line = format!("bulkhead tool grant {DEMO} --accept {}", short(&digest));
        self.end(title, &request, "active", text(&view, "status"), line);
        Ok(())
    }

    fn end(
        &mut self,
        title: &str,
        request: &str,
        expected: &'static str,
        outcome: &str,
        text: String,
    ) {
        self.story.end(Step {
            title: title.to_owned(),
            request: request.to_owned(),
            expected,
            outcome: outcome.to_owned(),
            text,
            events: Vec::new(),
            receipt: None,
            as_told: outcome == expected,
        });
    }
}

/// What a call said: its text, its structured output, or its error.
fn said(result: &Value) -> String {
    if let Some(message) = result["error"]["message"].as_str() {
        return message.to_owned();
    }
    match text(result, "text") {
        "" => result["output"]["structured"].to_string(),
        text => text.to_owned(),
    }
}

fn refusal(error: &CliError) -> String {
    let problems = error
        .problems
        .iter()
        .map(|problem| format!("{}: {}", problem.at, problem.message));
    let problems = problems.collect::<Vec<_>>().join("; ");
    if problems.is_empty() {
        error.message.clone()
    } else {
        problems
    }
}
