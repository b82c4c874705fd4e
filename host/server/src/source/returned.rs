//! What a client and a model see of a call's end, in the words of the contract (tools.md §4).

use bulkhead_domain::Outcome;
use bulkhead_sandbox::{LogLevel, Report, SourceReport};
use serde_json::Value;

/// Characters of an error's text.
const ERROR_CHARS_MAX: usize = 1_000;

/// What a tool gave.
#[derive(Debug, PartialEq)]
pub(crate) struct Returned {
    pub(crate) success: bool,
    /// What is shown.
    pub(crate) text: String,
    /// The value as JSON; null for an error.
    pub(crate) value: Value,
    /// Nothing, or everything that was printed as one text.
    pub(crate) stdout: Vec<String>,
    pub(crate) stderr: Vec<String>,
}

impl Returned {
    /// From a call of source; `tool` is the name in error texts.
    pub(crate) fn of_source(report: &SourceReport, tool: Option<&str>) -> Self {
        let mut returned = Self::of(&report.report, tool);
        if let Some(exception) = &report.exception {
            let text = format!("{}: {}", exception.kind, exception.message);
            returned.text = error_text(tool, &text);
            let mut stderr = returned.stderr.pop().unwrap_or_default();
            stderr.push_str(&exception.traceback);
            returned.stderr = vec![stderr];
        }
        returned
    }

    /// From any call.
    pub(crate) fn of(report: &Report, tool: Option<&str>) -> Self {
        let printed = |level| {
            let lines = report.log.iter().filter(|line| line.level == level);
            let text: String = lines.map(|line| format!("{}\n", line.message)).collect();
            if text.is_empty() {
                Vec::new()
            } else {
                vec![text]
            }
        };
        let (stdout, stderr) = (printed(LogLevel::Stdout), printed(LogLevel::Stderr));
        let (success, text, value) = match &report.result {
            Ok(output) => (
                true,
                output.text(),
                output.structured.clone().unwrap_or(Value::Null),
            ),
            Err(failure) => {
                let text = match failure.outcome {
                    Outcome::Exited => ": ".to_owned(),
                    Outcome::ToolError if failure.problems.is_empty() => failure.message.clone(),
                    Outcome::ToolError | Outcome::InvalidInput => {
                        let problems = failure.problems.iter().map(|problem| {
                            let at = problem.at.trim_start_matches('/');
                            if at.is_empty() {
                                problem.message.clone()
                            } else {
                                format!("{at}: {}", problem.message)
                            }
                        });
                        let problems: Vec<_> = problems.collect();
                        let problems = if problems.is_empty() {
                            failure.message.clone()
                        } else {
                            problems.join("; ")
                        };
                        format!("TypeError: {problems}")
                    }
                    Outcome::DeadlineExceeded => {
                        let seconds = report.receipt.wall_us.div_euclid(1_000_000);
                        let tool = tool.unwrap_or("None");
                        format!(
                            "TimeoutError: Executing tool {tool} timed out after {seconds} seconds."
                        )
                    }
                    Outcome::OutOfMemory => format!("MemoryError: {}", failure.message),
                    Outcome::Denied => format!("PermissionError: {}", failure.message),
                    outcome => format!("{}: {}", kind(outcome), failure.message),
                };
                (false, error_text(tool, &text), Value::Null)
            }
        };
        Self {
            success,
            text,
            value,
            stdout,
            stderr,
        }
    }

    /// An error of this text, of a call that gave nothing else.
    pub(crate) fn error(tool: Option<&str>, text: &str) -> Self {
        Self {
            success: false,
            text: error_text(tool, text),
            value: Value::Null,
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }

    /// The word that the contract has for how it ended.
    pub(crate) fn status(&self) -> &'static str {
        if self.success { "success" } else { "error" }
    }
}

fn error_text(tool: Option<&str>, text: &str) -> String {
    let tool = tool.unwrap_or("None");
    let text = format!("Error executing function {tool}: {text}");
    match text.char_indices().nth(ERROR_CHARS_MAX) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// An outcome as the name of an exception: `out_of_fuel` becomes `OutOfFuel`.
fn kind(outcome: Outcome) -> String {
    let words = outcome.as_str().split('_');
    words
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        })
        .collect()
}

/// `text` and a note that it is longer than `limit` characters, where it is; cut there if `cut`.
pub(crate) fn limited(text: String, limit: usize, cut: bool) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text;
    }
    if !cut {
        return format!(
            "{text}... [NOTE: function output was truncated since it exceeded the character limit: {count} > {limit}]"
        );
    }
    let end = text
        .char_indices()
        .nth(limit)
        .map_or(text.len(), |(end, _)| end);
    format!(
        "{}... [NOTE: function output was truncated since it exceeded the character limit ({count} > {limit})]",
        &text[..end]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        assert_eq!(limited("abc".to_owned(), 3, true), "abc");
        assert_eq!(
            limited("äbcd".to_owned(), 2, true),
            "äb... [NOTE: function output was truncated since it exceeded the character limit (4 > 2)]"
        );
        assert!(limited("abcd".to_owned(), 2, false).starts_with("abcd... [NOTE: "));
    }

    #[test]
    fn an_outcome_is_named_like_an_exception() {
        assert_eq!(kind(Outcome::OutOfFuel), "OutOfFuel");
        assert_eq!(kind(Outcome::Trap), "Trap");
    }
}
