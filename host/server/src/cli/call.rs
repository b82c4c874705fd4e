//! `bulkhead tool call`: one call on a server, its progress as it happens.

use std::time::Duration;

use bulkhead_domain::{Outcome, Receipt};
use bulkhead_sandbox::Event;
use clap::Args;
use futures::StreamExt;
use serde_json::{Value, json};

use super::{
    client::{Client, ServerArgs, segment},
    error::CliError,
    exit::Exit,
    receipt,
    report::event_line,
    run::read_input,
    screen::{Paint, Screen},
    sse::Parser,
    view::text,
};

/// A call may take as long as the server's ceiling allows, which it enforces itself.
const CALL_TIMEOUT: Duration = Duration::from_secs(3_600);

const EXAMPLES: &str = "\
Examples:
  bulkhead tool call greeter greet --input '{\"name\": \"Ada\"}'
  bulkhead tool call fetch_webpage fetch_webpage --input @page.json --json

The result goes to standard output; progress and the receipt go to standard error.";

/// Call a tool on a server, under the grants that it has there
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CallArgs {
    /// The component's name (its active version) or digest
    component: String,
    /// The tool
    tool: String,
    /// The input as JSON, as `@FILE`, or `-` for standard input
    #[arg(long, short, value_name = "JSON", default_value = "{}")]
    input: String,
    /// The agent on whose behalf the call is made
    #[arg(long, value_name = "AGENT")]
    agent_id: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn call(args: CallArgs, screen: Screen) -> Result<Exit, CliError> {
    let input: Value = serde_json::from_str(&read_input(&args.input)?)
        .map_err(|error| CliError::new(Exit::InvalidInput, "invalid_json", error.to_string()))?;
    let mut body = json!({"input": input, "stream": true});
    if let Some(agent) = args.agent_id {
        body["agent_id"] = json!(agent);
    }
    let client = Client::new(&args.server)?;
    let path = format!(
        "/v1/components/{}/tools/{}/call",
        segment(&args.component),
        segment(&args.tool)
    );
    let request = client
        .request(reqwest::Method::POST, &path)
        .timeout(CALL_TIMEOUT)
        .json(&body);
    let call = stream(&client, request, |event| {
        screen.note(event_line(event, &screen))
    });
    let result = tokio::select! {
        result = call => result?,
        // Leaving closes the connection, and that cancels the call on the server.
        _ = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
    };
    show(&result, &screen)
}

/// Sends a call that streams, hands each event to `seen`, and gives the result.
pub(crate) async fn stream(
    client: &Client,
    request: reqwest::RequestBuilder,
    mut seen: impl FnMut(&Event),
) -> Result<Value, CliError> {
    let broken = |error: String| CliError::new(Exit::Server, "broken_stream", error);
    let answer = client.send(request).await?;
    let mut bytes = answer.bytes_stream();
    let mut parser = Parser::default();
    while let Some(chunk) = bytes.next().await {
        let chunk = chunk.map_err(|error| broken(format!("the stream broke off: {error}")))?;
        for (event, data) in parser.feed(&chunk).map_err(broken)? {
            if event == "result" {
                return serde_json::from_str(&data)
                    .map_err(|error| broken(format!("the result is no JSON: {error}")));
            }
            // An event that this version does not know is none that it could show.
            if let Ok(event) = serde_json::from_str::<Event>(&data) {
                seen(&event);
            }
        }
    }
    Err(broken("the stream ended without a result".to_owned()))
}

fn show(result: &Value, screen: &Screen) -> Result<Exit, CliError> {
    let outcome: Outcome = serde_json::from_value(result["outcome"].clone())
        .map_err(|error| CliError::new(Exit::Server, "unexpected_answer", error.to_string()))?;
    if screen.json {
        screen.document(result);
    } else if outcome == Outcome::Ok {
        let text = text(result, "text");
        if text.is_empty() && !result["output"]["structured"].is_null() {
            screen.document(&result["output"]["structured"]);
        } else {
            screen.out(text);
        }
    } else {
        let error = &result["error"];
        let problems = serde_json::from_value(error["problems"].clone()).unwrap_or_default();
        let error = CliError::new(Exit::of(outcome), outcome.as_str(), text(error, "message"));
        screen.error(&CliError { problems, ..error });
    }
    if let Ok(receipt) = serde_json::from_value::<Receipt>(result["receipt"].clone()) {
        for line in receipt::lines(&receipt, screen) {
            screen.note(line);
        }
        for flag in receipt::missing_flags(&receipt) {
            let line = format!("to allow it: bulkhead tool grant NAME {flag}");
            screen.note(screen.paint_err(line, Paint::Yellow));
        }
    }
    Ok(Exit::of(outcome))
}
