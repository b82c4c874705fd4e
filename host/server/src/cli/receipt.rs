//! A receipt for people, and what a denial needs.

use bulkhead_domain::{HostCallOutcome, Outcome, Receipt};

use super::{
    screen::{Paint, Screen},
    units::{show_bytes, show_fuel, show_micros},
};

/// Host calls that are listed one by one; the rest is counted.
const SHOWN_HOST_CALLS: usize = 12;

/// The receipt in a few lines, for standard error.
pub(crate) fn lines(receipt: &Receipt, screen: &Screen) -> Vec<String> {
    let outcome = receipt.outcome;
    let paint = match outcome {
        Outcome::Ok => Paint::Green,
        Outcome::Denied => Paint::Yellow,
        _ => Paint::Red,
    };
    let mut lines = vec![format!(
        "{} {}",
        screen.paint_err(outcome, paint),
        screen.paint_err(summary(receipt), Paint::Dim)
    )];
    for call in receipt.host_calls.iter().take(SHOWN_HOST_CALLS) {
        let end = match call.outcome {
            HostCallOutcome::Ok => "",
            HostCallOutcome::Failed => " failed",
            HostCallOutcome::Denied => " denied",
        };
        lines.push(screen.paint_err(
            format_args!(
                "  {}.{} {} · {} in, {} out · {}{end}",
                call.interface,
                call.function,
                call.target.as_deref().unwrap_or_default(),
                show_bytes(call.bytes_in),
                show_bytes(call.bytes_out),
                show_micros(call.wall_us),
            ),
            Paint::Dim,
        ));
    }
    let hidden = receipt.host_calls.len().saturating_sub(SHOWN_HOST_CALLS) as u64;
    let hidden = hidden.saturating_add(receipt.host_calls_omitted);
    if hidden > 0 {
        let more = format_args!("  and {hidden} more host calls").to_string();
        lines.push(screen.paint_err(more, Paint::Dim));
    }
    for denial in &receipt.denials {
        lines.push(format!(
            "  denied {}: {}",
            denial.capability, denial.message
        ));
    }
    lines
}

/// What the call consumed, in one line.
pub(crate) fn summary(receipt: &Receipt) -> String {
    let mut parts = vec![
        show_micros(receipt.wall_us),
        format!("fuel {}", show_fuel(receipt.fuel.total())),
        format!("memory {}", show_bytes(receipt.peak_memory_bytes)),
    ];
    if receipt.queue_us >= 1_000 {
        parts.push(format!("waited {}", show_micros(receipt.queue_us)));
    }
    let calls = receipt.host_calls.len() as u64 + receipt.host_calls_omitted;
    if calls > 0 {
        parts.push(format!(
            "{calls} host call{}",
            if calls == 1 { "" } else { "s" }
        ));
    }
    format!("{} · {}", parts.join(" · "), short(&receipt.id.to_string()))
}

/// The flags that would have allowed what was denied, each once.
pub(crate) fn missing_flags(receipt: &Receipt) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    let mut add = |flag: String| {
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    };
    let denied = |call: &&bulkhead_domain::HostCall| call.outcome == HostCallOutcome::Denied;
    for call in receipt.host_calls.iter().filter(denied) {
        let target = call.target.as_deref().unwrap_or_default();
        if let Some(flag) = flag(&call.interface, target) {
            add(flag);
        }
    }
    for denial in &receipt.denials {
        // The host calls name the very host or label; a denial alone names the kind.
        if !receipt.host_calls.iter().any(|call| {
            call.outcome == HostCallOutcome::Denied && call.interface == denial.capability
        }) && let Some(flag) = flag(&denial.capability, "")
        {
            add(flag);
        }
    }
    flags
}

fn flag(capability: &str, target: &str) -> Option<String> {
    let or = |default: &str| {
        if target.is_empty() {
            default.to_owned()
        } else {
            target.to_owned()
        }
    };
    Some(match capability {
        // `GET https://example.com` or without the method.
        "http" => {
            let origin = target.rsplit(' ').next().unwrap_or_default();
            let host = origin.strip_prefix("https://").unwrap_or(origin);
            format!(
                "--allow-host {}",
                if host.is_empty() { "HOST" } else { host }
            )
        }
        "credential" | "credentials" => format!("--credential {}", or("NAME")),
        "secrets" | "reveal" => format!("--reveal {}", or("NAME")),
        "state" => "--state".to_owned(),
        "memory" => format!("--memory-blocks {}", or("LABEL")),
        "recall" => "--recall".to_owned(),
        "files" => "--files".to_owned(),
        "agents" => format!("--agent {}", or("AGENT")),
        "peers" => format!("--peer {}", or("TOOL")),
        "env" => format!("--env {}", or("NAME")),
        "folder" | "folders" | "filesystem" => "--folder HOST:GUEST".to_owned(),
        _ => return None,
    })
}

/// An id or digest, short enough for a line and long enough to find it again.
pub(crate) fn short(id: &str) -> &str {
    const SHOWN: usize = 20;
    id.get(..SHOWN).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_names_the_flag_that_would_allow_it() {
        assert_eq!(
            flag("http", "GET https://example.com").as_deref(),
            Some("--allow-host example.com")
        );
        assert_eq!(
            flag("http", "GET http://127.0.0.1:80").as_deref(),
            Some("--allow-host http://127.0.0.1:80")
        );
        assert_eq!(
            flag("memory", "human").as_deref(),
            Some("--memory-blocks human")
        );
        assert_eq!(flag("state", "").as_deref(), Some("--state"));
        assert_eq!(flag("clocks", ""), None);
    }
}
