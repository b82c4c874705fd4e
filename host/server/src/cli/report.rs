//! What a call gave, for people and as the HTTP API writes it; and its events, a line each.

use bulkhead_domain::{Content, Outcome};
use bulkhead_sandbox::{Event, Failure, LogLevel, Report};
use serde_json::{Value, json};

use super::{
    error::CliError,
    exit::Exit,
    receipt,
    screen::{Paint, Screen},
    units,
};

/// One event in one line.
pub(crate) fn event_line(event: &Event, screen: &Screen) -> String {
    match event {
        Event::Progress {
            message,
            done: Some(done),
        } => {
            let percent = f64::from(*done).clamp(0.0, 1.0) * 100.0;
            format!(
                "{} {message}",
                screen.paint_err(format_args!("{percent:>3.0} %"), Paint::Cyan)
            )
        }
        Event::Progress {
            message,
            done: None,
        } => {
            format!("{} {message}", screen.paint_err("  …  ", Paint::Cyan))
        }
        Event::Emit {
            part: Content::Text { text },
        } => {
            format!("{} {text}", screen.paint_err("part", Paint::Cyan))
        }
        Event::Emit { part } => {
            format!(
                "{} {}",
                screen.paint_err("part", Paint::Cyan),
                describe(part)
            )
        }
        Event::Log { level, message } => {
            let paint = if *level >= LogLevel::Warn {
                Paint::Yellow
            } else {
                Paint::Dim
            };
            format!("{} {message}", screen.paint_err(level_name(*level), paint))
        }
        Event::Truncated { what } => {
            format!(
                "{} {what}: the limit is used up, the rest is dropped",
                screen.paint_err("cut ", Paint::Yellow)
            )
        }
        _ => String::new(),
    }
}

fn level_name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Stdout => "stdout",
        LogLevel::Stderr => "stderr",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}

fn describe(part: &Content) -> String {
    match part {
        Content::Text { text } => text.clone(),
        Content::Blob { media_type, data } => {
            format!(
                "[{media_type}, {}]",
                units::show_bytes(data.len() as u64 / 4 * 3)
            )
        }
        Content::Link { uri, title } => match title {
            Some(title) => format!("[{title}]({uri})"),
            None => uri.clone(),
        },
    }
}

/// The result to standard output, the rest to standard error.
pub(crate) fn show(report: &Report, screen: &Screen, quiet: bool) {
    if screen.json {
        screen.document(&to_json(report));
    } else {
        match &report.result {
            Ok(output) => {
                for part in &output.content {
                    screen.out(describe(part));
                }
                if let (true, Some(structured)) = (output.content.is_empty(), &output.structured) {
                    screen.document(structured);
                }
            }
            Err(failure) => {
                screen.error(&failure_error(failure));
            }
        }
    }
    if !quiet {
        for line in receipt::lines(&report.receipt, screen) {
            screen.note(line);
        }
    }
    for flag in receipt::missing_flags(&report.receipt) {
        let line = format!("to allow it, add: {flag}");
        screen.note(screen.paint_err(line, Paint::Yellow));
    }
}

fn failure_error(failure: &Failure) -> CliError {
    let message = match &failure.tool_error {
        Some(error) => error.to_string(),
        None => failure.message.clone(),
    };
    let error = CliError {
        problems: failure.problems.clone(),
        ..CliError::new(Exit::of(failure.outcome), failure.outcome.as_str(), message)
    };
    match failure.outcome {
        Outcome::OutOfFuel => error.hint("--fuel gives more"),
        Outcome::OutOfMemory => error.hint("--memory gives more"),
        Outcome::DeadlineExceeded => error.hint("--timeout gives more"),
        _ => error,
    }
}

/// A report in the form of the HTTP API.
fn to_json(report: &Report) -> Value {
    let mut body = json!({
        "outcome": report.receipt.outcome,
        "receipt": report.receipt,
        "log": report.log,
        "log_truncated": report.log_truncated,
    });
    match &report.result {
        Ok(output) => {
            body["output"] = json!(output);
            body["text"] = json!(output.text());
        }
        Err(failure) => {
            let mut error = json!({"code": failure.outcome.as_str(), "message": failure.message});
            if !failure.problems.is_empty() {
                error["problems"] = json!(failure.problems);
            }
            if let Some(tool_error) = &failure.tool_error {
                error["tool_error"] = json!(tool_error);
            }
            body["error"] = error;
        }
    }
    body
}
