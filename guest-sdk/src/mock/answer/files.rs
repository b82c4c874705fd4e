//! Interface `files`. A pattern is a plain text here, no regular expression, and a view that was open
//! before counts as one of the whole file.

use super::{missing, with};
use crate::files::{Error, File, Hit, Lines, Opened};

/// How many files may be open. The mock closes none.
const OPEN_LIMIT: u32 = 10;

pub(crate) fn listing() -> Result<Vec<File>, Error> {
    with(|host| {
        let files = host.files.as_ref().ok_or_else(denied)?;
        Ok(files.iter().map(|(file, _)| file.clone()).collect())
    })
}

pub(crate) fn open_limit() -> Result<u32, Error> {
    with(|host| {
        host.files.as_ref().ok_or_else(denied)?;
        Ok(OPEN_LIMIT)
    })
}

pub(crate) fn open(name: &str, lines: Lines) -> Result<Opened, Error> {
    let (first, last) = (lines.first.unwrap_or(1), lines.last.unwrap_or(u32::MAX));
    if first == 0 || last < first {
        return Err(Error::Invalid(
            "lines count from 1, the last is not before the first".to_owned(),
        ));
    }
    with(|host| {
        let (file, text) = find(&mut host.files, name)?;
        let numbered = (1u32..)
            .zip(text.lines())
            .filter(|(number, _)| (first..=last).contains(number));
        let text = numbered.map(|(_, line)| line).collect::<Vec<_>>();
        let opened = Opened {
            text: text.join("\n"),
            previous: file.open.then(Lines::default),
            closed: Vec::new(),
        };
        file.open = true;
        Ok(opened)
    })
}

pub(crate) fn close(name: &str) -> Result<(), Error> {
    with(|host| {
        find(&mut host.files, name)?.0.open = false;
        Ok(())
    })
}

pub(crate) fn grep(
    pattern: &str,
    names: &[&str],
    context_lines: u32,
    limit: u32,
) -> Result<Vec<Hit>, Error> {
    let context = usize::try_from(context_lines).unwrap_or(usize::MAX);
    with(|host| {
        let files = host.files.as_ref().ok_or_else(denied)?;
        let chosen = files
            .iter()
            .filter(|(file, _)| names.is_empty() || names.contains(&file.name.as_str()));
        let hits = chosen.flat_map(|(file, text)| {
            let lines: Vec<&str> = text.lines().collect();
            let hits = (1u32..)
                .zip(0..lines.len())
                .filter(|(_, index)| lines[*index].contains(pattern))
                .map(|(line, index)| {
                    let end = index
                        .saturating_add(context)
                        .saturating_add(1)
                        .min(lines.len());
                    let text = lines[index.saturating_sub(context)..end].join("\n");
                    Hit {
                        file: file.name.clone(),
                        line,
                        text,
                        score: None,
                    }
                });
            hits.collect::<Vec<_>>()
        });
        Ok(hits
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect())
    })
}

pub(crate) fn search(query: &str, limit: u32) -> Result<Vec<Hit>, Error> {
    grep(query, &[], 0, limit)
}

fn find<'a>(
    files: &'a mut Option<Vec<(File, String)>>,
    name: &str,
) -> Result<&'a mut (File, String), Error> {
    let files = files.as_mut().ok_or_else(denied)?;
    files
        .iter_mut()
        .find(|(file, _)| file.name == name)
        .ok_or(Error::NotFound)
}

fn denied() -> Error {
    Error::Denied(missing("files"))
}

#[cfg(test)]
mod tests {
    use crate::{
        files::{Error, Lines, close, grep, listing, open},
        mock::Host,
    };

    #[test]
    fn an_opened_file_gives_its_lines_and_is_open_until_closed() {
        let _host = Host::new().file("notes.txt", "a\nb\nc").install();
        let from_two = Lines {
            first: Some(2),
            last: None,
        };
        let opened = open("notes.txt", from_two).expect("the file is there");
        assert_eq!((opened.text.as_str(), opened.previous), ("b\nc", None));
        assert_eq!(listing().map(|files| files[0].open), Ok(true));
        close("notes.txt").expect("the file is there");
        assert_eq!(listing().map(|files| files[0].open), Ok(false));
        assert_eq!(open("other", Lines::default()), Err(Error::NotFound));
    }

    #[test]
    fn a_hit_has_its_line_and_the_lines_around_it() {
        let _host = Host::new().file("notes.txt", "a\nb\nc\nd").install();
        let hits = grep("c", &[], 1, 10).expect("files are granted");
        assert_eq!(
            (hits.len(), hits[0].line, hits[0].text.as_str()),
            (1, 3, "b\nc\nd")
        );
    }
}
