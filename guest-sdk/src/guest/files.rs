//! Interface `files`.

use super::{
    owned,
    wit::files::{self, FileError},
};
use crate::files::{Error, File, Hit, Lines, Opened};

pub(crate) fn listing() -> Result<Vec<File>, Error> {
    let files = files::listing().map_err(error)?;
    Ok(files.into_iter().map(file).collect())
}

pub(crate) fn open_limit() -> Result<u32, Error> {
    files::open_limit().map_err(error)
}

pub(crate) fn open(name: &str, lines: Lines) -> Result<Opened, Error> {
    let Lines { first, last } = lines;
    let opened = files::open(name, files::Lines { first, last }).map_err(error)?;
    let files::Opened {
        text,
        previous,
        closed,
    } = opened;
    Ok(Opened {
        text,
        previous: previous.map(|files::Lines { first, last }| Lines { first, last }),
        closed,
    })
}

pub(crate) fn close(name: &str) -> Result<(), Error> {
    files::close(name).map_err(error)
}

pub(crate) fn grep(
    pattern: &str,
    names: &[&str],
    context_lines: u32,
    limit: u32,
) -> Result<Vec<Hit>, Error> {
    let hits = files::grep(pattern, &owned(names), context_lines, limit).map_err(error)?;
    Ok(hits.into_iter().map(hit).collect())
}

pub(crate) fn search(query: &str, limit: u32) -> Result<Vec<Hit>, Error> {
    let hits = files::search(query, limit).map_err(error)?;
    Ok(hits.into_iter().map(hit).collect())
}

fn file(file: files::File) -> File {
    let files::File {
        id,
        name,
        size,
        media_type,
        open,
    } = file;
    File {
        id,
        name,
        size,
        media_type,
        open,
    }
}

fn hit(hit: files::Hit) -> Hit {
    let files::Hit {
        file,
        line,
        text,
        score,
    } = hit;
    Hit {
        file,
        line,
        text,
        score,
    }
}

fn error(error: FileError) -> Error {
    match error {
        FileError::Denied(text) => Error::Denied(text),
        FileError::NotFound => Error::NotFound,
        FileError::Invalid(text) => Error::Invalid(text),
        FileError::Unavailable(text) => Error::Unavailable(text),
    }
}
