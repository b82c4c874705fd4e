//! What a command writes: results to standard output, everything else to standard error.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;

use super::error::CliError;

/// The two streams, and whether a machine or a person reads them. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// Whether results are JSON.
    pub(crate) json: bool,
    out: bool,
    err: bool,
}

/// A colour of the terminal. Used sparingly, never as the only carrier of a meaning.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paint {
    Bold,
    Dim,
    Green,
    Red,
    Yellow,
    Cyan,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

impl Screen {
    /// Colours only where a terminal shows them and nobody asked for none
    /// (<https://no-color.org>).
    pub(crate) fn new(json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self {
            json,
            out: wanted && io::stdout().is_terminal(),
            err: wanted && io::stderr().is_terminal(),
        }
    }

    /// A line of the result. A reader that went away ends nothing: the exit code stands.
    pub(crate) fn out(&self, line: impl Display) {
        let _ = writeln!(io::stdout().lock(), "{line}");
    }

    /// A line that is no result.
    pub(crate) fn note(&self, line: impl Display) {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// The result as JSON.
    pub(crate) fn document(&self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.out(text),
            Err(error) => self.note(format_args!("error: the result is no JSON: {error}")),
        }
    }

    /// Why the command gave up.
    pub(crate) fn error(&self, error: &CliError) {
        if self.json {
            self.document(&error.to_json());
        }
        self.note(format_args!(
            "{} {error}",
            self.paint_err("error:", Paint::Red)
        ));
        for problem in &error.problems {
            let at = if problem.at.is_empty() {
                "(root)"
            } else {
                &problem.at
            };
            self.note(format_args!("  {at}: {}", problem.message));
        }
        if let Some(hint) = &error.hint {
            self.note(format_args!(
                "{} {hint}",
                self.paint_err("hint:", Paint::Cyan)
            ));
        }
    }

    /// `text` for standard output.
    pub(crate) fn paint(&self, text: impl Display, paint: Paint) -> String {
        painted(self.out, text, paint)
    }

    /// `text` for standard error.
    pub(crate) fn paint_err(&self, text: impl Display, paint: Paint) -> String {
        painted(self.err, text, paint)
    }
}

fn painted(on: bool, text: impl Display, paint: Paint) -> String {
    if on {
        format!("\x1b[{}m{text}\x1b[0m", paint.code())
    } else {
        text.to_string()
    }
}
