//! Sentences for where no script says anything. Each can be told from a language model's.

use serde_json::Value;

use super::{
    input::{Input, Outcome},
    script::TRANSCRIPT,
};

/// Characters of what is quoted: enough to recognise it.
const QUOTE: usize = 400;

/// Results that are quoted; of more, their number is told.
const RESULTS: usize = 32;

const NO_MODEL: &str = "I am an offline script, not a language model";

/// The answer to a person's text.
pub(super) fn plain(input: &Input<'_>) -> String {
    let images = match input.images {
        0 => String::new(),
        1 => " and sent an image, which I cannot see".to_owned(),
        count => format!(" and sent {count} images, which I cannot see"),
    };
    format!(
        "You wrote “{}”{images}. {NO_MODEL}: write `call TOOL with {{\"argument\": 1}}` to have \
         a tool called.",
        quote(&input.text())
    )
}

/// The answer to results of tools.
pub(super) fn results(results: &[Outcome<'_>]) -> String {
    let mut lines: Vec<String> = results.iter().take(RESULTS).map(result).collect();
    if results.len() > RESULTS {
        lines.push(format!("… and {} more results.", results.len() - RESULTS));
    }
    lines.join("\n")
}

fn result(outcome: &Outcome<'_>) -> String {
    let packed: Option<Value> = serde_json::from_str(outcome.text).ok();
    let message = match packed.as_ref().and_then(|packed| packed.get("message")) {
        Some(Value::String(message)) => message.clone(),
        Some(message) => message.to_string(),
        None => outcome.text.to_owned(),
    };
    let status = packed
        .as_ref()
        .and_then(|packed| packed.get("status")?.as_str());
    let verb = if outcome.is_error || status == Some("Failed") {
        "failed"
    } else {
        "returned"
    };
    let images = match outcome.images {
        0 => String::new(),
        1 => " (and an image)".to_owned(),
        count => format!(" (and {count} images)"),
    };
    format!(
        "The tool {} {verb}: {}{images}",
        outcome.name,
        quote(&message)
    )
}

/// The answer to a notice of the system.
pub(super) fn notice(text: &str) -> String {
    format!(
        "The system says “{}”. {NO_MODEL}; there is nothing to do for me.",
        quote(text)
    )
}

/// The answer where nothing is new.
pub(super) fn nothing_new() -> String {
    format!("There is nothing to answer. {NO_MODEL}.")
}

/// What a forced call's tool is told that wants to hear thoughts.
pub(super) fn thoughts() -> String {
    format!("{NO_MODEL}; a tool has to be called.")
}

/// What a stream is made of that only has to break off.
pub(super) fn broken_off() -> String {
    "This answer is here to be broken off, as the script says.".to_owned()
}

/// The tools whose call a notice demands: `ToolRuleViolated: You must call a, b at least once …`.
pub(super) fn demanded(notice: &str) -> Vec<String> {
    let rest = notice
        .split_once("ToolRuleViolated: You must call ")
        .map_or("", |(_, rest)| rest);
    let names = rest.split(" at least once").next().unwrap_or("");
    names
        .split(',')
        .filter_map(|name| {
            let name = name.trim().trim_matches(|c: char| "'\"`".contains(c));
            let name = name.split(char::is_whitespace).next().unwrap_or("");
            (!name.is_empty()).then(|| name.to_owned())
        })
        .collect()
}

/// The transcript in a request for a summary.
pub(super) fn transcript(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(TRANSCRIPT)?;
    Some(rest.rsplit_once("<end_transcript>")?.0.trim())
}

/// A summary by counting and quoting.
pub(super) fn summary(transcript: &str) -> String {
    let lines: Vec<&str> = transcript
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = |role: &str| lines.iter().filter(|line| line.starts_with(role)).count();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return "Summary by an offline script, not by a language model: nothing was said.".into();
    };
    format!(
        "Summary by an offline script, not by a language model: {} lines, of which {} begin a \
         message of the user, {} one of the assistant and {} one of a tool. The first is “{}”, \
         the last “{}”.",
        lines.len(),
        from("[user]"),
        from("[assistant]"),
        from("[tool]"),
        quote(first),
        quote(last)
    )
}

/// The text in one line, cut where it is long.
fn quote(text: &str) -> String {
    let mut quoted = String::new();
    let mut left = QUOTE;
    for word in text.split_whitespace() {
        if left < QUOTE {
            quoted.push(' ');
        }
        for letter in word.chars() {
            if left == 0 {
                quoted.push('…');
                return quoted;
            }
            left -= 1;
            quoted.push(letter);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_for_tools_is_understood() {
        let notice = r#"{"reason": "[…] ToolRuleViolated: You must call a, b_2 at least once to exit the loop."}"#;
        assert_eq!(demanded(notice), ["a", "b_2"]);
        assert!(demanded("all is well").is_empty());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = "ä".repeat(QUOTE + 1);
        assert_eq!(quote(&text).chars().count(), QUOTE + 1);
        assert!(quote(&text).ends_with('…'));
    }
}
