//! What texts of the platform may be. A fault names its field, what is wrong and what is due.

use bulkhead_domain::{
    Problem,
    platform::{email, slug},
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::instances::model;
use crate::{
    agents::name,
    http::error::{self, Rejection},
};

/// Characters of a name: what the store has room for, four bytes each.
const NAME_MAX: usize = 128;
/// Characters of a description.
const DESCRIPTION_MAX: usize = 10_000;
/// Characters of a prompt: a quarter of the largest context of a common model.
const PROMPT_MAX: usize = 200_000;
/// Characters of a word: a model's handle, a field of expertise, a server's name.
const WORD_MAX: usize = 128;
/// Bytes of a model's parameters as JSON.
const PARAMS_MAX: usize = 16 << 10;

/// Gathers what is wrong with a body, so that all of it is told at once.
#[derive(Default)]
pub(crate) struct Faults(Vec<Problem>);

impl Faults {
    pub(crate) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(Problem {
            at: format!("/{field}"),
            message: message.into(),
        });
    }

    /// A name: not empty, one line.
    pub(crate) fn name(&mut self, field: &str, text: &str) {
        self.text(field, text, NAME_MAX);
        if text.trim().is_empty() {
            self.add(field, "must not be empty");
        }
    }

    /// The name of an agent, with which clients name files.
    pub(crate) fn agent(&mut self, field: &str, text: &str) {
        let before = self.0.len();
        self.name(field, text);
        if self.0.len() == before
            && let Some(fault) = name::fault(text)
        {
            self.add(field, fault);
        }
    }

    /// A person's name, which may be empty.
    pub(crate) fn person(&mut self, field: &str, text: &str) {
        self.text(field, text, NAME_MAX);
    }

    pub(crate) fn description(&mut self, field: &str, text: Option<&str>) {
        let text = text.unwrap_or_default();
        self.length(field, text, DESCRIPTION_MAX);
        self.no_nul(field, text);
    }

    pub(crate) fn prompt(&mut self, field: &str, text: &str) {
        self.length(field, text, PROMPT_MAX);
        self.no_nul(field, text);
        if text.trim().is_empty() {
            self.add(field, "must not be empty");
        }
    }

    pub(crate) fn word(&mut self, field: &str, text: &str) {
        self.text(field, text, WORD_MAX);
        if text.trim().is_empty() {
            self.add(field, "must not be empty");
        }
    }

    pub(crate) fn words(&mut self, field: &str, words: &[String], most: usize) {
        if words.len() > most {
            self.add(field, format!("has more than {most} entries"));
            return;
        }
        for (index, word) in words.iter().enumerate() {
            self.word(&format!("{field}/{index}"), word);
        }
    }

    pub(crate) fn slug(&mut self, field: &str, text: &str) {
        if let Err(error) = slug::check(text) {
            self.add(field, error.to_string());
        }
    }

    /// The address in the form in which it is stored.
    pub(crate) fn email(&mut self, field: &str, text: &str) -> String {
        match email::normalised(text) {
            Ok(email) => email,
            Err(error) => {
                self.add(field, error.to_string());
                String::new()
            }
        }
    }

    /// What a model is asked with.
    pub(crate) fn params(&mut self, field: &str, params: &Map<String, Value>) {
        if let Some((key, fault)) = model::fault(params) {
            self.add(&format!("{field}/{key}"), fault);
        }
        let size = serde_json::to_vec(params).map_or(usize::MAX, |bytes| bytes.len());
        if size > PARAMS_MAX {
            self.add(field, format!("is larger than {PARAMS_MAX} bytes"));
        }
    }

    /// Nothing is wrong, or all of this is.
    pub(crate) fn check(self) -> Result<(), Rejection> {
        let Some(first) = self.0.first() else {
            return Ok(());
        };
        let message = format!("{}: {}", first.at.trim_start_matches('/'), first.message);
        Err(Rejection::with(&error::INVALID_BODY, message).problems(self.0))
    }

    /// One line of at most so many characters.
    fn text(&mut self, field: &str, text: &str, max: usize) {
        self.length(field, text, max);
        if text.chars().any(char::is_control) {
            self.add(field, "has a control character, such as the end of a line");
        }
    }

    /// Postgres has no place for it.
    fn no_nul(&mut self, field: &str, text: &str) {
        if text.contains('\0') {
            self.add(field, "has a NUL character");
        }
    }

    fn length(&mut self, field: &str, text: &str, max: usize) {
        if text.chars().nth(max).is_some() {
            self.add(field, format!("has more than {max} characters"));
        }
    }
}

/// Tells a field that is null from one that is left out.
#[expect(clippy::option_option, reason = "null and nothing are two things here")]
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_told_with_its_place() {
        let mut faults = Faults::default();
        faults.name("name", " ");
        faults.words("expertise", &["a".to_owned(), "b\n".to_owned()], 2);
        faults.prompt("personality_prompt", "Be\nkind.");
        faults.slug("slug", "Not A Slug");
        faults.email("email", "nobody");
        let places: Vec<_> = faults.0.iter().map(|fault| fault.at.as_str()).collect();
        assert_eq!(places, ["/name", "/expertise/1", "/slug", "/email"]);
        assert!(faults.check().is_err());
        assert!(Faults::default().check().is_ok());
    }

    #[test]
    fn a_name_of_an_agent_is_a_name_and_one_of_a_file() {
        for name in ["", "a\nb", "a/b", "a.b", &"a".repeat(NAME_MAX + 1)] {
            let mut faults = Faults::default();
            faults.agent("name", name);
            assert_eq!(faults.0.len(), 1, "{name}");
        }
        let mut faults = Faults::default();
        faults.agent("name", "Zoë's agent-2_b");
        assert!(faults.check().is_ok());
    }

    #[test]
    fn texts_end_somewhere() {
        let mut faults = Faults::default();
        faults.name("name", &"é".repeat(NAME_MAX));
        assert!(faults.0.is_empty());
        faults.name("name", &"é".repeat(NAME_MAX + 1));
        faults.words("expertise", &vec!["a".to_owned(); 6], 5);
        assert_eq!(faults.0.len(), 2);
    }
}
