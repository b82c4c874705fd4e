//! How the demo tells what happens.

use bulkhead_domain::Receipt;
use bulkhead_sandbox::Event;
use serde::Serialize;
use serde_json::Value;

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

/// Tells the steps to a person, or collects them for a machine.
pub(super) struct Story {
    screen: Screen,
    steps: Vec<Step>,
}

impl Story {
    pub(super) fn new(screen: Screen) -> Self {
        Self {
            screen,
            steps: Vec::new(),
        }
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

    /// Whether every step went as told. The last words of the demo.
    pub(super) fn finish(self) -> bool {
        let good = self.steps.iter().all(|step| step.as_told);
        if self.screen.json {
            let document = serde_json::json!({"ok": good, "steps": self.steps});
            self.screen.document(&document);
        } else if good {
            self.screen.out(format_args!(
                "\n{} Your own tool: bulkhead tool new weather && cd weather && bulkhead tool build",
                self.screen.paint("That was it.", Paint::Green)
            ));
        } else {
            self.screen.out(
                self.screen
                    .paint("\nNot every step went as told.", Paint::Red),
            );
        }
        good
    }
}
