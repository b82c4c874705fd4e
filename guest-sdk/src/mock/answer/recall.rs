//! Interface `recall`. A search is for a text that stands in the other, in any case of letters.

use super::{missing, with};
use crate::recall::{Error, Filter, Passage, Turn};

/// When everything that a mock stores was stored.
const STORED_AT: &str = "2026-01-01T00:00:00Z";

pub(crate) fn insert(text: &str, tags: &[&str]) -> Result<Passage, Error> {
    with(|host| {
        let passages = host.passages.as_mut().ok_or_else(denied)?;
        let passage = Passage {
            id: format!("passage-{}", passages.len() + 1),
            text: text.to_owned(),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            created_at: STORED_AT.to_owned(),
            score: None,
        };
        passages.push(passage.clone());
        Ok(passage)
    })
}

pub(crate) fn search_archive(query: &str, filter: Filter) -> Result<Vec<Passage>, Error> {
    with(|host| {
        let passages = host.passages.as_ref().ok_or_else(denied)?;
        let matching = passages.iter().filter(|passage| {
            contains(&passage.text, query)
                && tagged(passage, &filter)
                && within(&passage.created_at, &filter)
        });
        Ok(matching.take(limit(&filter)).cloned().collect())
    })
}

pub(crate) fn search_conversation(query: Option<&str>, filter: Filter) -> Result<Vec<Turn>, Error> {
    with(|host| {
        let turns = host.turns.as_ref().ok_or_else(denied)?;
        let matching = turns.iter().rev().filter(|turn| {
            let role = filter.roles.is_empty() || filter.roles.contains(&turn.role);
            role && query.is_none_or(|query| contains(&turn.text, query))
                && within(&turn.created_at, &filter)
        });
        Ok(matching.take(limit(&filter)).cloned().collect())
    })
}

fn denied() -> Error {
    Error::Denied(missing("the archive and the conversation"))
}

fn contains(text: &str, query: &str) -> bool {
    text.to_lowercase().contains(&query.to_lowercase())
}

fn tagged(passage: &Passage, filter: &Filter) -> bool {
    let mut tags = filter.tags.iter();
    if filter.match_all_tags {
        tags.all(|tag| passage.tags.contains(tag))
    } else {
        filter.tags.is_empty() || tags.any(|tag| passage.tags.contains(tag))
    }
}

/// RFC 3339 in UTC orders like text.
fn within(time: &str, filter: &Filter) -> bool {
    filter.since.as_deref().is_none_or(|since| since <= time)
        && filter.until.as_deref().is_none_or(|until| time <= until)
}

fn limit(filter: &Filter) -> usize {
    usize::try_from(filter.limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use crate::{
        mock::Host,
        recall::{Error, Filter, Turn, insert, search_archive, search_conversation},
    };

    fn turn(role: &str, text: &str) -> Turn {
        Turn {
            id: text.to_owned(),
            role: role.to_owned(),
            text: text.to_owned(),
            created_at: "2026-01-02T00:00:00Z".to_owned(),
            score: None,
        }
    }

    #[test]
    fn the_latest_turns_of_a_role_come_first() {
        let _host = Host::new()
            .turn(turn("user", "one"))
            .turn(turn("assistant", "two"))
            .turn(turn("user", "three"))
            .install();
        let filter = Filter {
            roles: vec!["user".to_owned()],
            ..Filter::default()
        };
        let turns = search_conversation(None, filter).expect("turns are granted");
        assert_eq!(
            turns
                .iter()
                .map(|turn| turn.text.as_str())
                .collect::<Vec<_>>(),
            ["three", "one"]
        );
        assert!(matches!(
            search_archive("x", Filter::default()),
            Err(Error::Denied(_))
        ));
    }

    #[test]
    fn what_was_inserted_is_found_by_text_and_tag() {
        let passage = crate::recall::Passage {
            id: "p".to_owned(),
            text: "Red".to_owned(),
            tags: vec![],
            created_at: "2026-01-01T00:00:00Z".to_owned(),
            score: None,
        };
        let _host = Host::new().passage(passage).install();
        insert("A red house", &["home"]).expect("the archive is granted");
        let filter = Filter {
            tags: vec!["home".to_owned()],
            ..Filter::default()
        };
        assert_eq!(
            search_archive("RED", filter)
                .expect("the archive is granted")
                .len(),
            1
        );
        assert_eq!(
            search_archive("RED", Filter::default())
                .expect("the archive is granted")
                .len(),
            2
        );
    }
}
