//! From text to replies. What people may write stands in [`super::GRAMMAR`].

use std::time::Duration;

use crate::{chat::Finish, error::ErrorKind};

/// Calls of one reply at most; providers take no more tools than that either.
const MAX_CALLS: usize = 128;

/// The longest `wait` or `pause`: as long as a whole answer of a provider may take by default.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// What is said beside calls, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Reasoning.
    Think(String),
    /// Text of the answer.
    Say(String),
}

/// A call as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    /// JSON text, or what was written instead of it.
    pub(super) arguments: String,
}

/// A failure, and when it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fail {
    pub(super) kind: ErrorKind,
    /// After so many pieces of a stream; at once where there is no stream.
    pub(super) after_pieces: Option<usize>,
    /// Only while the request has more tokens than this.
    pub(super) over_tokens: Option<usize>,
}

/// One answer of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) said: Vec<Said>,
    pub(super) calls: Vec<Call>,
    pub(super) wait: Duration,
    pub(super) pause: Duration,
    pub(super) fail: Option<Fail>,
    pub(super) finish: Option<Finish>,
    pub(super) empty: bool,
    pub(super) repeat: bool,
}

impl Reply {
    /// A reply of one text.
    pub(super) fn say(text: impl Into<String>) -> Self {
        Self {
            said: vec![Said::Say(text.into())],
            ..Self::default()
        }
    }

    /// The texts, a line each.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self
            .said
            .iter()
            .filter_map(|said| match said {
                Said::Say(text) => Some(text.as_str()),
                Said::Think(_) => None,
            })
            .collect();
        texts.join("\n")
    }

    /// Whether nothing is left to be made up: it says, calls, fails, or is silent on purpose.
    pub(super) fn is_complete(&self) -> bool {
        let says = self.said.iter().any(|said| matches!(said, Said::Say(_)));
        let fails_at_once = self
            .fail
            .as_ref()
            .is_some_and(|fail| fail.after_pieces.is_none() && fail.over_tokens.is_none());
        says || !self.calls.is_empty() || self.empty || fails_at_once
    }
}

/// What text without commands means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// Nothing: a person wrote it, and may write what they like.
    Ignored,
    /// That it is said.
    Said,
}

/// The replies that `text` asks for, in order; none where it has no command.
///
/// # Errors
/// Says which line asks for more than a limit allows.
pub(super) fn parse(text: &str, plain: Plain) -> Result<Vec<Reply>, String> {
    let mut replies = Vec::new();
    let mut reply = Reply::default();
    let mut commands = 0_usize;
    let mut others: Vec<&str> = Vec::new();
    let mut finish = |reply: &mut Reply, commands: &mut usize, others: &mut Vec<&str>| {
        let unsaid = std::mem::take(others).join("\n");
        if std::mem::take(commands) > 0 {
            replies.push(std::mem::take(reply));
        } else if plain == Plain::Said && !unsaid.trim().is_empty() {
            replies.push(Reply::say(unsaid.trim()));
        }
    };
    for line in text.lines() {
        if line.trim() == "then" {
            finish(&mut reply, &mut commands, &mut others);
        } else if command(line.trim(), &mut reply)? {
            commands += 1;
        } else {
            others.push(line);
        }
    }
    finish(&mut reply, &mut commands, &mut others);
    Ok(replies)
}

/// Adds a line to the reply; false where the line is no command.
fn command(line: &str, reply: &mut Reply) -> Result<bool, String> {
    let (word, rest) = split(line);
    match word {
        "call" => {
            let Some(call) = call(rest) else {
                return Ok(false);
            };
            if reply.calls.len() == MAX_CALLS {
                return Err(format!("a reply has {MAX_CALLS} calls at most"));
            }
            reply.calls.push(call);
        }
        "think" if !rest.is_empty() => reply.said.push(Said::Think(rest.to_owned())),
        "say" if !rest.is_empty() => reply.said.push(Said::Say(rest.to_owned())),
        "wait" | "pause" => {
            let Some(length) = duration(rest) else {
                return Ok(false);
            };
            if length > MAX_WAIT {
                let most = MAX_WAIT.as_secs();
                return Err(format!("`{line}`: {most}s at most"));
            }
            if word == "wait" {
                reply.wait = length;
            } else {
                reply.pause = length;
            }
        }
        "fail" => {
            let Some(failure) = failure(rest) else {
                return Ok(false);
            };
            reply.fail = Some(failure);
        }
        "stop" if rest == "length" => reply.finish = Some(Finish::Length),
        "stop" if rest == "filtered" => reply.finish = Some(Finish::Filtered),
        "empty" if rest.is_empty() => reply.empty = true,
        "repeat" if rest.is_empty() => reply.repeat = true,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The first word, and what follows it.
fn split(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace)
        .map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn call(text: &str) -> Option<Call> {
    let (name, rest) = split(text);
    let arguments = match split(rest) {
        ("", _) => "{}",
        ("with", arguments) => arguments,
        _ => return None,
    };
    (!name.is_empty()).then(|| Call {
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let number: u64 = digits.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

fn failure(text: &str) -> Option<Fail> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (kind, after, over) = match *words.as_slice() {
        [kind] => (kind, None, None),
        [kind, "after", count, "piece" | "pieces"] => (kind, Some(count), None),
        [kind, "over", count, "token" | "tokens"] => (kind, None, Some(count)),
        _ => return None,
    };
    let number = |count: Option<&str>| count.map(str::parse::<usize>).transpose().ok();
    Some(Fail {
        kind: super::failure::kind(kind)?,
        after_pieces: number(after)?,
        over_tokens: number(over)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_calls_are_one_reply_and_then_begins_the_next() {
        let replies = parse(
            "call a with {\"x\": 1}\r\n  call b\nthen\nthink hm\nsay done",
            Plain::Ignored,
        )
        .unwrap();
        let names: Vec<&str> = replies[0].calls.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(replies[0].calls[0].arguments, "{\"x\": 1}");
        assert_eq!(replies[0].calls[1].arguments, "{}");
        assert_eq!(
            replies[1].said,
            [Said::Think("hm".into()), Said::Say("done".into())]
        );
    }

    #[test]
    fn sentences_that_begin_like_commands_are_none() {
        for text in [
            "call me later please",
            "fail again",
            "wait a minute",
            "stop it",
            "then",
            "fail server after lunch",
        ] {
            assert_eq!(parse(text, Plain::Ignored).unwrap(), [], "{text}");
        }
    }

    #[test]
    fn arguments_that_are_no_json_are_passed_on() {
        let replies = parse("call a with {oops", Plain::Ignored).unwrap();
        assert_eq!(replies[0].calls[0].arguments, "{oops");
    }

    #[test]
    fn failures_can_have_conditions() {
        let replies = parse(
            "fail server after 3 pieces\nthen\nfail context_window over 900 tokens",
            Plain::Ignored,
        )
        .unwrap();
        let fails: Vec<Fail> = replies.into_iter().filter_map(|r| r.fail).collect();
        assert_eq!(fails[0].after_pieces, Some(3));
        assert_eq!(fails[1].over_tokens, Some(900));
        assert_eq!(fails[1].kind, ErrorKind::ContextWindowExceeded);
    }

    #[test]
    fn limits_are_told() {
        assert!(
            parse("wait 601s", Plain::Ignored)
                .unwrap_err()
                .contains("600s")
        );
        let many = "call a\n".repeat(MAX_CALLS + 1);
        assert!(parse(&many, Plain::Ignored).unwrap_err().contains("128"));
    }

    #[test]
    fn a_scripts_text_without_commands_is_said() {
        let replies = parse("Hello.\nThere.\nthen\ncall a", Plain::Said).unwrap();
        assert_eq!(replies[0].text(), "Hello.\nThere.");
        assert_eq!(replies[1].calls[0].name, "a");
    }
}
