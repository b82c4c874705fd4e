//! Tools that arrive as source, as clients send them.

use serde_json::{Value, json};

const PYTHON: &str = r#"from datetime import date

def days_between(start: str, end: str) -> int:
    """Count the days from one date to another.

    Args:
        start (str): The first date, for example 2026-05-09.
        end (str): The second date.
    """
    return (date.fromisoformat(end) - date.fromisoformat(start)).days
"#;

const TYPESCRIPT: &str = r"export function sailing_time(miles: number, knots: number): string {
  const minutes = Math.round((miles / knots) * 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
";

/// A tool of the agent: what a person asks for it, and how the model calls it.
pub(super) struct AgentTool {
    pub(super) name: &'static str,
    pub(super) language: &'static str,
    pub(super) question: String,
    pub(super) arguments: Value,
    /// The body of the request that saves it; none for a tool of a component.
    pub(super) source: Option<Value>,
}

/// The tools, one for each language that this build can run. `page` is what the first one reads.
pub(super) fn tools(page: &str) -> Vec<AgentTool> {
    let mut tools = vec![AgentTool {
        name: "fetch_title",
        language: "Rust",
        question: format!("What is the headline at {page}?"),
        arguments: json!({"url": page}),
        source: None,
    }];
    if bulkhead_tools::PYTHON.is_ok() {
        tools.push(AgentTool {
            name: "days_between",
            language: "Python",
            question: "How many days are there from 2026-05-09 to the regatta on 2026-06-20?"
                .to_owned(),
            arguments: json!({"start": "2026-05-09", "end": "2026-06-20"}),
            source: Some(json!({"source_code": PYTHON, "source_type": "python"})),
        });
    }
    tools.push(AgentTool {
        name: "sailing_time",
        language: "TypeScript",
        question: "And how long do 61 nautical miles take at 6.5 knots?".to_owned(),
        arguments: json!({"miles": 61, "knots": 6.5}),
        source: Some(json!({
            "source_code": TYPESCRIPT,
            "source_type": "typescript",
            // The schema of Python follows from its source; clients send that of TypeScript.
            "json_schema": {
                "name": "sailing_time",
                "description": "Say how long a boat takes.",
                "parameters": {
                    "type": "object",
                    "properties": {"miles": {"type": "number"}, "knots": {"type": "number"}},
                    "required": ["miles", "knots"],
                },
            },
        })),
    });
    tools
}
