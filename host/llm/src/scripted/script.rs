//! Replies that belong to an agent: the list under the key `script` of its metadata.

use serde::Deserialize;
use serde_json::Value;

use super::grammar::{Plain, Reply, parse};

/// Entries of a script at most: more is a mistake, and each is looked through for every answer.
const MAX_ENTRIES: usize = 1_000;

/// What the prompt of a summary holds before the conversation. A `when` that fits a part of the
/// conversation would fit its transcript too, so that only entries that name this mark apply there.
pub(super) const TRANSCRIPT: &str = "<start_transcript>";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    when: Option<String>,
    reply: String,
}

/// The replies of the first entry that fits what began the request; none where none fits.
///
/// # Errors
/// Says what is wrong with the script, whether or not the faulty entry would have fitted.
pub(super) fn replies(script: &Value, opening: &str) -> Result<Option<Vec<Reply>>, String> {
    let Some(entries) = script.as_array() else {
        return Err("`script` is a list of objects {\"when\": …, \"reply\": …}".to_owned());
    };
    if entries.len() > MAX_ENTRIES {
        return Err(format!("`script` has {MAX_ENTRIES} entries at most"));
    }
    let mut found = None;
    for (index, entry) in entries.iter().enumerate() {
        let fault = |reason: String| format!("`script[{index}]`: {reason}");
        let entry = Entry::deserialize(entry).map_err(|error| fault(error.to_string()))?;
        let replies = parse(&entry.reply, Plain::Said).map_err(fault)?;
        if found.is_none() && fits(entry.when.as_deref(), opening) {
            found = Some(replies);
        }
    }
    Ok(found)
}

fn fits(when: Option<&str>, opening: &str) -> bool {
    let summary = opening.contains(TRANSCRIPT);
    match when {
        None => !summary,
        Some(when) => opening.contains(when) && (!summary || when.contains(TRANSCRIPT)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_entry_that_fits_decides() {
        let script = json!([
            {"when": "weather", "reply": "call get_weather"},
            {"reply": "Hello."},
        ]);
        let name = |text| {
            let replies = replies(&script, text).unwrap().unwrap();
            replies[0].calls.first().map(|call| call.name.clone())
        };
        assert_eq!(name("what weather?").as_deref(), Some("get_weather"));
        assert_eq!(name("hi"), None);
    }

    #[test]
    fn a_transcript_is_not_taken_for_a_request() {
        let script = json!([{"when": "weather", "reply": "call get_weather"}, {"reply": "Hi."}]);
        let transcript = "<start_transcript>\n[user] weather\n<end_transcript>";
        assert_eq!(replies(&script, transcript).unwrap(), None);
    }

    #[test]
    fn a_malformed_script_says_where_and_why() {
        let wrong = |script| replies(&script, "x").unwrap_err();
        assert!(wrong(json!({})).contains("a list"));
        assert!(wrong(json!([{"reply": "a"}, {"when": 1, "reply": "a"}])).contains("script[1]"));
        assert!(wrong(json!([{"when": "a"}])).contains("reply"));
        assert!(wrong(json!([{"reply": "wait 700s"}])).contains("600s"));
    }
}
