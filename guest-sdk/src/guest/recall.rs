//! Interface `recall`.

use super::{
    owned,
    wit::recall::{self, RecallError},
};
use crate::recall::{Error, Filter, Passage, Turn};

pub(crate) fn insert(text: &str, tags: &[&str]) -> Result<Passage, Error> {
    recall::insert(text, &owned(tags))
        .map(passage)
        .map_err(error)
}

pub(crate) fn search_archive(query: &str, search: Filter) -> Result<Vec<Passage>, Error> {
    let passages = recall::search_archive(query, &filter(search)).map_err(error)?;
    Ok(passages.into_iter().map(passage).collect())
}

pub(crate) fn search_conversation(query: Option<&str>, search: Filter) -> Result<Vec<Turn>, Error> {
    let turns = recall::search_conversation(query, &filter(search)).map_err(error)?;
    Ok(turns.into_iter().map(turn).collect())
}

fn filter(filter: Filter) -> recall::Filter {
    let Filter {
        tags,
        match_all_tags,
        roles,
        since,
        until,
        limit,
    } = filter;
    recall::Filter {
        tags,
        match_all_tags,
        roles,
        since,
        until,
        limit,
    }
}

fn passage(passage: recall::Passage) -> Passage {
    let recall::Passage {
        id,
        text,
        tags,
        created_at,
        score,
    } = passage;
    Passage {
        id,
        text,
        tags,
        created_at,
        score,
    }
}

fn turn(turn: recall::Turn) -> Turn {
    let recall::Turn {
        id,
        role,
        text,
        created_at,
        score,
    } = turn;
    Turn {
        id,
        role,
        text,
        created_at,
        score,
    }
}

fn error(error: RecallError) -> Error {
    match error {
        RecallError::Denied(text) => Error::Denied(text),
        RecallError::Invalid(text) => Error::Invalid(text),
        RecallError::Unavailable(text) => Error::Unavailable(text),
    }
}
