//! The files of the agent's folders: opened, closed, and searched by expressions and by words.

use std::sync::atomic::{AtomicBool, Ordering};

use bulkhead_domain::{
    AgentFile,
    folder::view::Lines,
    id::{AgentFileId, AgentId},
};
use bulkhead_sandbox::services::{
    AttachedFile, FileHit, FileLines, FilesError, FilesService, OpenedFile,
};
use bulkhead_store::{AgentFileFilter, FilePassageSearch, Paging, Store, StoreError};
use futures::future::BoxFuture;
use regex::{Regex, RegexBuilder};

use super::unavailable;

/// Bytes of all texts that one search by an expression reads: it takes less than a second.
const SEARCH_BYTES_MAX: u64 = 64 << 20;
/// Bytes of an expression, and of the automaton that it becomes.
const PATTERN_MAX: usize = 1_000;
const AUTOMATON_MAX: usize = 1 << 20;
/// Characters of a line that a hit shows.
const LINE_MAX: usize = 500;
/// Passages that a search by words gives at most.
const PASSAGES_MAX: u32 = 50;
/// Characters of a passage that a hit shows.
const PASSAGE_MAX: usize = 4_000;
/// Files that may be open where the agent does not say.
const OPEN_LIMIT: u32 = 10;

/// The files of one agent, for the calls of one step.
pub(crate) struct AgentFiles {
    store: Store,
    agent_id: AgentId,
    open_limit: u32,
    changed: AtomicBool,
}

impl AgentFiles {
    pub(crate) fn new(store: Store, agent_id: AgentId, max_files_open: Option<i64>) -> Self {
        let limit = max_files_open.map(|limit| u32::try_from(limit.max(0)).unwrap_or(u32::MAX));
        Self {
            store,
            agent_id,
            open_limit: limit.unwrap_or(OPEN_LIMIT),
            changed: AtomicBool::new(false),
        }
    }

    /// Whether other files are in view now.
    pub(crate) fn is_changed(&self) -> bool {
        self.changed.load(Ordering::Acquire)
    }

    /// All files, in the order in which they came to the agent.
    async fn all(&self) -> Result<Vec<AgentFile>, FilesError> {
        let mut files: Vec<AgentFile> = Vec::new();
        loop {
            let filter = AgentFileFilter {
                agent_id: self.agent_id,
                is_open: None,
                paging: Paging {
                    after: files.last().map(|file| file.id.to_string()),
                    ascending: true,
                    limit: Some(bulkhead_store::PAGE_MAX),
                    ..Paging::default()
                },
            };
            let page = self.store.agent_files(&filter).await.map_err(refused)?;
            if page.is_empty() {
                return Ok(files);
            }
            files.extend(page);
        }
    }

    async fn named(&self, name: &str) -> Result<AgentFile, FilesError> {
        let found = self.store.agent_file_named(&self.agent_id, name).await;
        found.map_err(refused)?.ok_or(FilesError::NotFound)
    }

    async fn touch(&self, files: &[AgentFileId]) -> Result<(), FilesError> {
        let touched = self.store.touch_agent_files(&self.agent_id, files).await;
        touched.map_err(refused)
    }
}

impl FilesService for AgentFiles {
    fn listing(&self) -> BoxFuture<'_, Result<Vec<AttachedFile>, FilesError>> {
        Box::pin(async move {
            let files = self.all().await?.into_iter();
            let attached = files.map(|file| AttachedFile {
                id: file.file_id.to_string(),
                name: file.path,
                size: file.size,
                media_type: file.media_type,
                open: file.is_open,
            });
            Ok(attached.collect())
        })
    }

    fn open_limit(&self) -> BoxFuture<'_, Result<u32, FilesError>> {
        Box::pin(async move { Ok(self.open_limit) })
    }

    fn open<'a>(
        &'a self,
        name: &'a str,
        lines: FileLines,
    ) -> BoxFuture<'a, Result<OpenedFile, FilesError>> {
        Box::pin(async move {
            let file = self.named(name).await?;
            let lines = Lines {
                first: lines.first.map(u64::from),
                last: lines.last.map(u64::from),
            };
            let opened = self.store.open_file(&self.agent_id, &file.file_id, lines);
            let opened = opened.await.map_err(refused)?;
            self.changed.store(true, Ordering::Release);
            let narrow = |line: u64| u32::try_from(line).unwrap_or(u32::MAX);
            Ok(OpenedFile {
                text: opened.file.visible.unwrap_or_default(),
                previous: opened.previous.map(|lines| FileLines {
                    first: lines.first.map(narrow),
                    last: lines.last.map(narrow),
                }),
                closed: opened.closed,
            })
        })
    }

    fn close<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let file = self.named(name).await?;
            let closed = self.store.close_file(&self.agent_id, &file.file_id).await;
            if closed.map_err(refused)? {
                self.changed.store(true, Ordering::Release);
            }
            Ok(())
        })
    }

    fn grep(
        &self,
        pattern: String,
        names: Vec<String>,
        context_lines: u32,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<FileHit>, FilesError>> {
        Box::pin(async move {
            let pattern = expression(&pattern)?;
            let mut files = self.all().await?;
            if !names.is_empty() {
                files.retain(|file| names.contains(&file.path));
            }
            let bytes = files.iter().map(|file| file.size);
            if bytes.fold(0, u64::saturating_add) > SEARCH_BYTES_MAX {
                return Err(FilesError::Invalid(format!(
                    "the files have more than {SEARCH_BYTES_MAX} bytes together; search fewer of \
                     them at once"
                )));
            }
            let mut hits: Vec<FileHit> = Vec::new();
            let mut touched = Vec::new();
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            for file in files {
                if hits.len() >= limit {
                    break;
                }
                let text = self.store.agent_file_text(&self.agent_id, &file.file_id);
                // One that was deleted meanwhile has none.
                let Some(text) = text.await.map_err(refused)? else {
                    continue;
                };
                let (pattern, left) = (pattern.clone(), limit - hits.len());
                // Large files take long: not on a thread that others wait for.
                let found = tokio::task::spawn_blocking(move || {
                    matches(&pattern, &file.path, &text, context_lines, left)
                });
                let found = found
                    .await
                    .map_err(|error| FilesError::Unavailable(error.to_string()))?;
                if !found.is_empty() {
                    touched.push(file.id);
                }
                hits.extend(found);
            }
            self.touch(&touched).await?;
            Ok(hits)
        })
    }

    fn search(&self, query: String, limit: u32) -> BoxFuture<'_, Result<Vec<FileHit>, FilesError>> {
        Box::pin(async move {
            let search = FilePassageSearch {
                agent_id: self.agent_id,
                query,
                limit: Some(limit.clamp(1, PASSAGES_MAX)),
            };
            let found = self.store.search_file_passages(&search).await;
            let hits = found.map_err(refused)?.into_iter();
            let hits = hits.map(|(passage, score)| FileHit {
                file: passage.path,
                line: u32::try_from(passage.line).unwrap_or(u32::MAX),
                text: clipped(passage.text.trim_end(), PASSAGE_MAX),
                score: Some(score),
            });
            Ok(hits.collect())
        })
    }
}

/// An expression that takes time in proportion to the text alone. Upper and lower case are the same
/// to it, and a line's ends are its `^` and `$`.
fn expression(pattern: &str) -> Result<Regex, FilesError> {
    if pattern.is_empty() || pattern.len() > PATTERN_MAX {
        return Err(FilesError::Invalid(format!(
            "a pattern has 1 to {PATTERN_MAX} bytes"
        )));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(AUTOMATON_MAX)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default();
            let reason = reason.trim().trim_start_matches("error: ");
            FilesError::Invalid(format!("the pattern is no regular expression: {reason}"))
        })
}

/// The lines of a file in which the expression is found, with those around them.
fn matches(
    pattern: &Regex,
    file: &str,
    text: &str,
    context_lines: u32,
    limit: usize,
) -> Vec<FileHit> {
    let context = usize::try_from(context_lines).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.lines().collect();
    let found = lines.iter().enumerate();
    let found = found.filter(|(_, line)| pattern.is_match(line)).take(limit);
    let hits = found.map(|(at, _)| {
        let end = at
            .saturating_add(context)
            .saturating_add(1)
            .min(lines.len());
        let around = &lines[at.saturating_sub(context)..end];
        let around: Vec<_> = around.iter().map(|line| clipped(line, LINE_MAX)).collect();
        FileHit {
            file: file.to_owned(),
            line: u32::try_from(at + 1).unwrap_or(u32::MAX),
            text: around.join("\n"),
            score: None,
        }
    });
    hits.collect()
}

fn clipped(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn refused(error: StoreError) -> FilesError {
    match error {
        StoreError::NotFound { .. } => FilesError::NotFound,
        StoreError::Invalid { .. } | StoreError::Quota { .. } => {
            FilesError::Invalid(error.to_string())
        }
        other => FilesError::Unavailable(unavailable(&other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_has_its_line_and_those_around_it() {
        let pattern = expression("^b.$").expect("an expression");
        let hits = matches(&pattern, "docs/a", "a\nBe\nc\nba\n", 1, 10);
        let hits: Vec<_> = hits
            .iter()
            .map(|hit| (hit.line, hit.text.as_str()))
            .collect();
        assert_eq!(hits, [(2, "a\nBe\nc"), (4, "c\nba")]);
        let long = "b".repeat(10_000);
        let hits = matches(&expression("b").expect("an expression"), "f", &long, 0, 10);
        assert!(hits[0].text.chars().count() <= LINE_MAX + 1);
    }

    #[test]
    fn what_is_no_expression_or_would_be_a_large_one_is_refused() {
        for pattern in ["", "(", "a{1000}{1000}{1000}", "(?=a)b"] {
            let refused = expression(pattern);
            assert!(matches!(refused, Err(FilesError::Invalid(_))), "{pattern}");
        }
    }
}
