//! What the providers' models do: asked to look something up they call a tool twice at once, then
//! say what was found; everything else they take for thanks.

use super::talk::Talk;

/// What a model thinks before it calls.
pub(crate) const LOOK: Thought = Thought {
    text: "I must look at both.",
    signature: "c2lnbmF0dXJlLW9mLWxvb2s=",
};
/// What it thinks when it has the results.
pub(crate) const KNOW: Thought = Thought {
    text: "Now I know.",
    signature: "c2lnbmF0dXJlLW9mLWtub3c=",
};
/// What it thinks of thanks.
pub(crate) const EASY: Thought = Thought {
    text: "That was easy.",
    signature: "c2lnbmF0dXJlLW9mLWVhc3k=",
};

/// Reasoning with what proves that it is the model's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thought {
    /// The reasoning.
    pub(crate) text: &'static str,
    /// The proof.
    pub(crate) signature: &'static str,
}

/// An answer, whatever its format.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Reasoning, where it is told.
    pub(crate) thought: Option<Thought>,
    /// The proof of it, which some vendors send without it.
    pub(crate) signature: &'static str,
    /// The text.
    pub(crate) text: String,
    /// Places to look up: a call each.
    pub(crate) places: &'static [&'static str],
}

impl Reply {
    /// The id of a call.
    pub(crate) fn id(place: &str) -> String {
        format!("call_{}", place.to_lowercase())
    }

    /// A call's arguments as text.
    pub(crate) fn arguments(place: &str) -> String {
        format!("{{\"place\": \"{place}\"}}")
    }
}

/// The answer; none for a user who has the key refused.
pub(crate) fn reply(talk: &Talk) -> Option<Reply> {
    let (thought, text, places): (_, _, &[_]) = if talk.text.contains("Refuse me") {
        return None;
    } else if !talk.text.contains("Look up") {
        (EASY, "You are welcome.".to_owned(), &[])
    } else if talk.results.is_empty() {
        (LOOK, "Looking.".to_owned(), &["Paris", "Rome"])
    } else {
        let found = talk.results.iter();
        let found: Vec<_> = found
            .map(|(place, said)| format!("{place}: {said}"))
            .collect();
        (KNOW, format!("{}.", found.join("; ")), &[])
    };
    Some(Reply {
        thought: talk.reasons.then_some(thought),
        signature: thought.signature,
        text,
        places,
    })
}
