//! The figures for people, each beside what is promised.

use super::{
    Figures, agents::AgentFigures, cancel::CancelFigures, sign_in::SignInFigures, stats::Middle,
};
use crate::cli::screen::{Paint, Screen};

/// A line: what, measured, its unit, the promise (none for a comparison).
struct Line {
    what: &'static str,
    value: Option<f64>,
    unit: &'static str,
    promise: Promise,
}

#[derive(Clone, Copy)]
enum Promise {
    AtMost(f64),
    AtLeast(f64),
    None,
}

impl Promise {
    fn kept(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::None => true,
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {most} {unit}").trim_end().to_owned(),
            Self::AtLeast(least) => format!("≥ {least} {unit}").trim_end().to_owned(),
            Self::None => String::new(),
        }
    }
}

pub(super) fn show(figures: &Figures, screen: &Screen) {
    screen.out(format_args!(
        "bulkhead {} ({} build) on {} cores{}",
        figures.version,
        figures.profile,
        figures.cores,
        if figures.quick { ", quick" } else { "" }
    ));
    screen.out(format_args!("{:<44} {:>14}   promise", "", "measured"));
    let of_agents = of_agents(&figures.agents).into_iter();
    let of_agents = of_agents
        .chain(of_cancelling(&figures.cancel))
        .chain(of_people(&figures.sign_in));
    for line in lines(figures).into_iter().chain(of_agents) {
        let value = match line.value {
            Some(value) => format!("{value} {}", line.unit).trim_end().to_owned(),
            None => "unknown".to_owned(),
        };
        let kept = line.value.is_none_or(|value| line.promise.kept(value));
        let promise = line.promise.text(line.unit);
        let promise = if kept {
            screen.paint(promise, Paint::Dim)
        } else {
            format!("{} {}", promise, screen.paint("missed", Paint::Red))
        };
        screen.out(format!("{:<44} {value:>14}   {promise}", line.what).trim_end());
    }
    for (key, note) in &figures.notes {
        screen.out(format_args!("{key} is unknown: {note}"));
    }
    if figures.profile == "debug" {
        screen.out(screen.paint(
            "this is a debug build: promises are for release builds",
            Paint::Yellow,
        ));
    }
}

fn lines(figures: &Figures) -> Vec<Line> {
    let line = |what, value: f64, unit, promise| Line {
        what,
        value: Some(value),
        unit,
        promise,
    };
    let maybe = |what, value: Option<f64>, unit, promise| Line {
        what,
        value,
        unit,
        promise,
    };
    let middle = |middle: Option<Middle>| middle.map(|middle| middle.p50);
    vec![
        line(
            "native call in process, p50",
            figures.native_call_us.p50,
            "µs",
            Promise::AtMost(100.0),
        ),
        line(
            "native call in process, p99",
            figures.native_call_us.p99,
            "µs",
            Promise::AtMost(1_000.0),
        ),
        line(
            "instance alone, p50",
            figures.instantiate_us.p50,
            "µs",
            Promise::None,
        ),
        line(
            "native call over HTTP, p50",
            figures.native_call_http_us.p50,
            "µs",
            Promise::AtMost(400.0),
        ),
        line(
            "native call over HTTP, p99",
            figures.native_call_http_us.p99,
            "µs",
            Promise::None,
        ),
        line(
            "calls over HTTP, 64 clients",
            figures.http_calls_per_s_64 as f64,
            "/s",
            Promise::AtLeast(5_000.0),
        ),
        line(
            "1,000 calls at once, succeeded",
            figures.waiting_1000.ok as f64,
            "calls",
            Promise::AtLeast(figures.waiting_1000.calls as f64),
        ),
        line(
            "1,000 calls at once, longest wait",
            figures.waiting_1000.longest_wait_ms,
            "ms",
            Promise::None,
        ),
        line(
            "install, compiled",
            figures.install_cold_ms,
            "ms",
            Promise::None,
        ),
        line(
            "install, from the cache",
            figures.install_cached_ms,
            "ms",
            Promise::None,
        ),
        line(
            "server: start to healthy",
            figures.start_to_healthy_ms,
            "ms",
            Promise::AtMost(200.0),
        ),
        maybe(
            "server: resident memory, idle",
            figures.idle_rss_mb,
            "MB",
            Promise::AtMost(60.0),
        ),
        maybe(
            "memory of an idle tool",
            figures.memory_per_idle_tool_kb,
            "kB",
            Promise::None,
        ),
        maybe(
            "memory of a running call",
            figures.memory_per_call_kb,
            "kB",
            Promise::None,
        ),
        maybe(
            "Python call, p50",
            figures.python_call_us.map(|spread| spread.p50),
            "µs",
            Promise::AtMost(3_000.0),
        ),
        maybe(
            "JavaScript call, p50",
            figures.javascript_call_us.map(|spread| spread.p50),
            "µs",
            Promise::AtMost(1_000.0),
        ),
        maybe(
            "for comparison: spawn node -e 0",
            middle(figures.spawn_node_us),
            "µs",
            Promise::None,
        ),
        maybe(
            "for comparison: spawn python3 -c pass",
            middle(figures.spawn_python_us),
            "µs",
            Promise::None,
        ),
        maybe(
            "for comparison: spawn /bin/true",
            middle(figures.spawn_true_us),
            "µs",
            Promise::None,
        ),
    ]
}

fn of_agents(figures: &AgentFigures) -> Vec<Line> {
    let line = |what, value, unit, promise| Line {
        what,
        value: Some(value),
        unit,
        promise,
    };
    vec![
        line(
            "step of an agent over HTTP, p50",
            figures.step_us.p50,
            "µs",
            Promise::AtMost(5_000.0),
        ),
        line(
            "step of an agent over HTTP, p99",
            figures.step_us.p99,
            "µs",
            Promise::None,
        ),
        Line {
            what: "the same on Postgres, p50",
            value: figures.step_postgres_us.map(|spread| spread.p50),
            unit: "µs",
            promise: Promise::AtMost(8_000.0),
        },
        line(
            "first token of a stream, p50",
            figures.first_token_overhead_us.p50,
            "µs",
            Promise::AtMost(5_000.0),
        ),
        line(
            "agents made over HTTP, 8 clients",
            figures.agents_created_per_s as f64,
            "/s",
            Promise::AtLeast(200.0),
        ),
        line(
            "100 conversations, of the ideal",
            figures.conversations_100_efficiency,
            "",
            Promise::AtLeast(0.85),
        ),
        Line {
            what: "memory: 10,000 agents, 100 conversations",
            value: figures.rss_10000_agents_100_running_mb,
            unit: "MB",
            promise: Promise::AtMost(150.0),
        },
    ]
}

fn of_people(figures: &SignInFigures) -> [Line; 2] {
    [
        Line {
            what: "check of an access token, p50",
            value: Some(figures.token_check_us.p50),
            unit: "µs",
            promise: Promise::AtMost(50.0),
        },
        Line {
            what: "call over HTTP while 64 sign in, p99",
            value: Some(figures.call_while_64_sign_in_us.p99 / 1e3),
            unit: "ms",
            promise: Promise::AtMost(10.0),
        },
    ]
}

fn of_cancelling(figures: &CancelFigures) -> [Line; 2] {
    let line = |what, value| Line {
        what,
        value,
        unit: "ms",
        promise: Promise::AtMost(100.0),
    };
    let tool = figures.cancel_tool_ms.map(|tail| tail.p95);
    [
        line("cancel to the stream's end, Python tool, p95", tool),
        line(
            "cancel to the stream's end, model, p95",
            Some(figures.cancel_model_ms.p95),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_kept_up_to_its_figure() {
        assert!(Promise::AtMost(100.0).kept(100.0) && !Promise::AtMost(100.0).kept(100.1));
        assert!(Promise::AtLeast(5.0).kept(5.0) && !Promise::AtLeast(5.0).kept(4.9));
        assert_eq!(Promise::AtMost(100.0).text("µs"), "≤ 100 µs");
    }
}
