//! How the demo tells what happens.

use bulkhead_domain::Receipt;
use bulkhead_sandbox::Event;
use serde::Serialize;
use serde_json::Value;

use super::transcript::Turn;
use crate::cli::{
    receipt,
    report::event_line,
    screen::{Paint, Screen},
};

/// Characters of a result that are shown.
const SHOWN: usize = 160;

/// One step: what was done, what was expected, what came.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) title: String,
    /// The request, for whoever wants to repeat it.
    pub(super) request: String,
    pub(super) expected: &'static str,
    pub(super) outcome: String,
    /// The result or the refusal.
    pub(super) text: String,
    pub(super) events: Vec<Event>,
    pub(super) receipt: Option<Value>,
    pub(super) as_told: bool,
}

/// What came of the agent's act.
#[derive(Debug, Serialize)]
pub(super) struct AgentTold {
    pub(super) turns: Vec<Turn>,
    pub(super) memory: Vec<BlockTold>,
    pub(super) as_told: bool,
}

/// A memory block before and after the conversation.
#[derive(Debug, Serialize)]
pub(super) struct BlockTold {
    pub(super) label: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// Tells what happens to a person, or collects it for a machine.
pub(super) struct Story {
    pub(super) screen: Screen,
    steps: Vec<Step>,
    agent: Option<AgentTold>,
}

impl Story {
    pub(super) fn new(screen: Screen) -> Self {
        Self {
            screen,
            steps: Vec::new(),
            agent: None,
        }
    }

    /// An act begins.
    pub(super) fn act(&self, title: &str) {
        if !self.screen.json {
            let line = format_args!("\n── {title} ──\n").to_string();
            self.screen.out(self.screen.paint(line, Paint::Cyan));
        }
    }

    /// A line about the agent, for people.
    pub(super) fn line(&self, line: impl std::fmt::Display) {
        if !self.screen.json {
            self.screen.out(line);
        }
    }

    /// The agent's act is over.
    pub(super) fn agent(&mut self, told: AgentTold) {
        self.agent = Some(told);
    }

    /// Something that is about to take a moment.
    pub(super) fn doing(&self, what: &str) {
        if self.screen.json {
            self.screen.note(what);
        } else {
            self.screen.out(self.screen.paint(what, Paint::Dim));
        }
    }

    /// The next step begins.
    pub(super) fn begin(&self, title: &str, request: &str) {
        if self.screen.json {
            self.screen.note(title);
            return;
        }
        let number = self.steps.len() + 1;
        self.screen.out(format_args!(
            "\n{} {}",
            self.screen.paint(format_args!("{number}."), Paint::Cyan),
            self.screen.paint(title, Paint::Bold)
        ));
        self.screen.out(format_args!(
            "   {}",
            self.screen.paint(request, Paint::Dim)
        ));
    }

    /// An event of the step that runs.
    pub(super) fn event(&self, event: &Event) {
        if !self.screen.json {
            // The line is painted for standard error; both are the same terminal or none is.
            self.screen
                .out(format_args!("   {}", event_line(event, &self.screen)));
        }
    }

    /// The step is over.
    pub(super) fn end(&mut self, step: Step) {
        if !self.screen.json {
            self.tell(&step);
        }
        self.steps.push(step);
    }

    fn tell(&self, step: &Step) {
        let (mark, paint) = match (step.as_told, step.expected) {
            (false, _) => ("✗", Paint::Red),
            (true, "ok" | "active") => ("✓", Paint::Green),
            (true, _) => ("■", Paint::Yellow),
        };
        let outcome = self
            .screen
            .paint(format_args!("{mark} {}", step.outcome), paint);
        let text: String = step.text.replace('\n', " ").chars().take(SHOWN).collect();
        self.screen.out(format_args!("   {outcome}  {text}"));
        let receipt = step.receipt.clone().map(serde_json::from_value::<Receipt>);
        if let Some(Ok(receipt)) = receipt {
            let line = format!("receipt: {}", receipt::summary(&receipt));
            self.screen
                .out(format_args!("   {}", self.screen.paint(line, Paint::Dim)));
        }
        if !step.as_told {
            let line = format!("expected {}", step.expected);
            self.screen
                .out(format_args!("   {}", self.screen.paint(line, Paint::Red)));
        }
    }

    /// Whether everything went as told. The last words of the demo.
    pub(super) fn finish(self) -> bool {
        let good = self.steps.iter().all(|step| step.as_told)
            && self.agent.as_ref().is_some_and(|agent| agent.as_told);
        if self.screen.json {
            let document = serde_json::json!({
                "ok": good, "steps": self.steps, "agent": self.agent,
            });
            self.screen.document(&document);
        } else if good {
            self.screen.out(format_args!(
                "\n{} Your own tool: bulkhead tool new weather && cd weather && bulkhead tool build",
                self.screen.paint("That was it.", Paint::Green)
            ));
        } else {
            self.screen.out(
                self.screen
                    .paint("\nNot everything went as told.", Paint::Red),
            );
        }
        good
    }
}
