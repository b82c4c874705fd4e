//! The files of an agent, and which of them it sees.
//!
//! What an agent sees of a file is stored as it was when the file was opened: its system prompt is
//! made of it, and reading whole files for that would cost much.

use std::collections::HashMap;

use bulkhead_domain::{
    Agent, AgentFile, Folder, Timestamp,
    folder::view::{self, Lines},
    id::{AgentFileId, AgentId, FileId},
};

use crate::{
    Paging, Result, Store, StoreError,
    agent::lock_record,
    compiled_here,
    paging::Listing,
    sql::{Durability, Row, Statement, Transaction},
};

/// Closed files that a system prompt and an answer about an agent name at most; open ones they name
/// all.
pub const SHOWN_MAX: u32 = 200;
/// Files of which an agent sees something, and characters of each, where it says nothing of that.
const OPEN_DEFAULT: (i64, i64) = (10, 25_000);
/// Characters of all texts in one answer of [`Store::agent_files_of`].
const SHOWN_TEXT_MAX: i64 = 8 << 20;
/// Rows that one statement writes.
const ROWS_AT_ONCE: usize = 500;

const LISTING: Listing = Listing {
    what: "file of the agent",
    table: "agent_files",
    columns: COLUMNS,
    key: "created_at",
    bytes: "(COALESCE(LENGTH(visible), 0) + 2048)",
};

/// The columns of [`record`], in its order, of `agent_files`.
const COLUMNS: &str = "id, file_id, folder_id, is_open, visible, first_line, last_line,
    last_accessed_at, (SELECT f.name FROM folder_files f WHERE f.id = file_id),
    (SELECT f.media_type FROM folder_files f WHERE f.id = file_id),
    (SELECT f.size FROM folder_files f WHERE f.id = file_id),
    (SELECT d.name FROM folders d WHERE d.id = folder_id)";

/// Which files of an agent to list.
#[derive(Debug, Clone)]
pub struct AgentFileFilter {
    /// The agent.
    pub agent_id: AgentId,
    /// Only open ones, or only closed ones.
    pub is_open: Option<bool>,
    /// Which part of the list; ordered by the time when files came to the agent.
    pub paging: Paging,
}

/// How a file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The file as the agent has it now.
    pub file: AgentFile,
    /// What was in view of it before; none where it was closed.
    pub previous: Option<Lines>,
    /// What was closed so that no more files are open than may be, the least recently used first.
    pub closed: Vec<String>,
}

/// A folder of an agent, as its system prompt shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Directory {
    /// The folder.
    pub folder: Folder,
    /// Its files, open ones first.
    pub files: Vec<AgentFile>,
}

impl Store {
    /// Files of an agent, the last that came to it first unless the paging says otherwise.
    #[compiled_here]
    pub async fn agent_files(&self, filter: &AgentFileFilter) -> Result<Vec<AgentFile>> {
        let conditions = |query: &mut Statement| {
            query.push(" AND agent_id = ");
            query.push_value(filter.agent_id.to_string());
            query.push_if(" AND is_open = ", filter.is_open);
        };
        let rows = LISTING.page(self, &filter.paging, conditions).await?;
        rows.iter().map(record).collect()
    }

    /// The files of each of these agents, the first that came to it first: all open ones, and of closed
    /// ones the first [`SHOWN_MAX`]. Agents without files have no list. All their texts together have at
    /// most 8 Mi characters: of the files that came last there is none then.
    #[compiled_here]
    pub async fn agent_files_of(
        &self,
        agents: &[AgentId],
    ) -> Result<HashMap<AgentId, Vec<AgentFile>>> {
        let mut query = Statement::new("SELECT ");
        query.push(COLUMNS).push(
            ", agent_id FROM (SELECT id, file_id, folder_id, is_open, first_line, last_line,
                last_accessed_at, agent_id, seq, CASE WHEN so_far <= ",
        );
        query.push_value(SHOWN_TEXT_MAX).push(
            " THEN visible END AS visible FROM (SELECT a.*,
                SUM(COALESCE(LENGTH(visible), 0)) OVER (ORDER BY seq) AS so_far,
                ROW_NUMBER() OVER (PARTITION BY agent_id, is_open ORDER BY seq) AS place
                FROM agent_files a WHERE agent_id IN (",
        );
        query.push_list(agents.iter().map(ToString::to_string));
        query.push(") AS placed WHERE is_open = 1 OR place <= ");
        query.push_value(i64::from(SHOWN_MAX));
        query.push(") AS shown ORDER BY seq");
        let rows = self.database().all(query).await?;
        let mut lists: HashMap<AgentId, Vec<AgentFile>> = HashMap::new();
        for row in &rows {
            let list = lists.entry(row.parsed(12, "agent id")?).or_default();
            list.push(record(row)?);
        }
        Ok(lists)
    }

    /// The file that an agent knows by this name, `folder/file`.
    #[compiled_here]
    pub async fn agent_file_named(&self, agent: &AgentId, path: &str) -> Result<Option<AgentFile>> {
        // Every such name has a slash at least; which one parts it is for the database to say.
        let mut query = of_agent(agent);
        query.push(
            " AND EXISTS (SELECT 1 FROM folder_files f JOIN folders d ON d.id = f.folder_id
            WHERE f.id = file_id AND d.name || '/' || f.name = ",
        );
        query.push_value(path).push(") ORDER BY seq LIMIT 1");
        let row = self.database().optional(query).await?;
        row.as_ref().map(record).transpose()
    }

    /// The text of a file of an agent; none where the agent does not have it.
    #[compiled_here]
    pub async fn agent_file_text(&self, agent: &AgentId, file: &FileId) -> Result<Option<String>> {
        let query = "SELECT content FROM folder_files WHERE id = $1
            AND id IN (SELECT file_id FROM agent_files WHERE agent_id = $2)";
        let query = Statement::new(query)
            .bind(file.to_string())
            .bind(agent.to_string());
        let row = self.database().optional(query).await?;
        row.map_or(Ok(None), |row| row.optional_text(0))
    }

    /// Puts lines of a file into an agent's view. Where more files would be open than the agent may
    /// have open, the least recently used ones are closed.
    ///
    /// [`StoreError::NotFound`] where the agent is not there or does not have the file,
    /// [`StoreError::Invalid`] where the file does not have the lines.
    #[compiled_here]
    pub async fn open_file(&self, agent: &AgentId, file: &FileId, lines: Lines) -> Result<Opened> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let limits = Limits::of(&lock_record(&mut transaction, agent).await?);
        let former = one(&mut transaction, agent, file).await?;
        let visible = visible(&mut transaction, file, lines, limits.chars).await?;
        let closed = match former.is_open {
            true => Vec::new(),
            false => close_for_one(&mut transaction, agent, limits.open).await?,
        };
        let update = "UPDATE agent_files SET is_open = 1, visible = $1, first_line = $2,
            last_line = $3, last_accessed_at = $4 WHERE id = $5";
        let update = Statement::new(update)
            .bind(visible)
            .bind(number(lines.first))
            .bind(number(lines.last))
            .bind(later(&former))
            .bind(former.id.to_string());
        transaction.defer(update).await?;
        let file = one(&mut transaction, agent, file).await?;
        transaction.commit().await?;
        Ok(Opened {
            file,
            previous: former.is_open.then_some(Lines {
                first: former.first_line,
                last: former.last_line,
            }),
            closed,
        })
    }

    /// Takes a file out of an agent's view. Whether it was in it. [`StoreError::NotFound`] where the
    /// agent does not have the file.
    #[compiled_here]
    pub async fn close_file(&self, agent: &AgentId, file: &FileId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        lock_record(&mut transaction, agent).await?;
        let former = one(&mut transaction, agent, file).await?;
        close(&mut transaction, &former.id).await?;
        transaction.commit().await?;
        Ok(former.is_open)
    }

    /// Takes all files out of an agent's view but these, and gives the names of those that were in
    /// it.
    #[compiled_here]
    pub async fn close_files_but(
        &self,
        agent: &AgentId,
        kept: &[AgentFileId],
    ) -> Result<Vec<String>> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        lock_record(&mut transaction, agent).await?;
        let mut closed = Vec::new();
        for file in open_files(&mut transaction, agent).await? {
            if !kept.contains(&file.id) {
                close(&mut transaction, &file.id).await?;
                closed.push(file.path);
            }
        }
        transaction.commit().await?;
        Ok(closed)
    }

    /// Notes that an agent looked into these files.
    #[compiled_here]
    pub async fn touch_agent_files(&self, agent: &AgentId, files: &[AgentFileId]) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Process).await?;
        let mut update = Statement::new("UPDATE agent_files SET last_accessed_at = ");
        update.push_value(Timestamp::now());
        update
            .push(" WHERE agent_id = ")
            .push_value(agent.to_string());
        update.push(" AND id IN (");
        update.push_list(files.iter().map(ToString::to_string));
        transaction.defer(update).await?;
        transaction.commit().await
    }

    /// The folders of an agent with its files in them, as its system prompt shows them, and how many
    /// files are open in all. Of closed ones the first [`SHOWN_MAX`].
    #[compiled_here]
    pub async fn directories(&self, agent: &AgentId) -> Result<(Vec<Directory>, usize)> {
        let folders = "SELECT document FROM agent_folders l JOIN folders d ON d.id = l.folder_id
            WHERE agent_id = $1 ORDER BY l.seq";
        let folders = Statement::new(folders).bind(agent.to_string());
        let mut opened = of_agent(agent);
        opened.push(" AND is_open = 1 ORDER BY seq");
        let mut closed = of_agent(agent);
        closed.push(" AND is_open = 0 ORDER BY seq LIMIT ");
        closed.push_value(i64::from(SHOWN_MAX));
        let queries = vec![folders, opened, closed];
        let mut answers = self.database().each(queries).await?.into_iter();
        let folders = answers.next().unwrap_or_default();
        let mut directories = Vec::with_capacity(folders.len());
        for row in &folders {
            directories.push(Directory {
                folder: row.json(0, "folder")?,
                files: Vec::new(),
            });
        }
        let mut open = 0;
        for row in answers.flatten() {
            let file = record(&row)?;
            open += usize::from(file.is_open);
            let of_file = |directory: &&mut Directory| directory.folder.id == file.folder_id;
            if let Some(directory) = directories.iter_mut().find(of_file) {
                directory.files.push(file);
            }
        }
        Ok((directories, open))
    }
}

/// What an agent says of its view.
struct Limits {
    open: usize,
    chars: usize,
}

impl Limits {
    fn of(agent: &Agent) -> Self {
        let natural = |number: i64| usize::try_from(number).unwrap_or(0);
        let (open, chars) = OPEN_DEFAULT;
        Self {
            open: natural(agent.max_files_open.unwrap_or(open)),
            chars: natural(agent.per_file_view_window_char_limit.unwrap_or(chars)),
        }
    }
}

/// Gives an agent every file of its folders that has a text and is not its yet, and opens as many of
/// them as may be open. Nothing is closed for them.
pub(crate) async fn sync(transaction: &mut Transaction, agent: &AgentId) -> Result<()> {
    let limits = Limits::of(&lock_record(transaction, agent).await?);
    let mut missing = Statement::new(
        "SELECT id, folder_id FROM folder_files WHERE content IS NOT NULL
        AND folder_id IN (SELECT folder_id FROM agent_folders WHERE agent_id = ",
    );
    missing.push_value(agent.to_string());
    missing.push(") AND id NOT IN (SELECT file_id FROM agent_files WHERE agent_id = ");
    missing.push_value(agent.to_string()).push(") ORDER BY seq");
    missing.push(transaction.for_reference());
    let missing = transaction.all(missing).await?;
    let mut room = limits.open;
    if !missing.is_empty() {
        room = room.saturating_sub(open_files(transaction, agent).await?.len());
    }
    let now = Timestamp::now();
    for rows in missing.chunks(ROWS_AT_ONCE) {
        let mut insert = Statement::new(
            "INSERT INTO agent_files (id, agent_id, folder_id, file_id, is_open, visible,
                last_accessed_at, created_at) VALUES ",
        );
        for (index, row) in rows.iter().enumerate() {
            let file: FileId = row.parsed(0, "file id")?;
            let is_open = room > 0;
            room = room.saturating_sub(1);
            let visible = match is_open {
                true => Some(visible(transaction, &file, Lines::default(), limits.chars).await?),
                false => None,
            };
            let values = [
                AgentFileId::random().to_string().into(),
                agent.to_string().into(),
                row.text(1)?.into(),
                file.to_string().into(),
                is_open.into(),
                visible.into(),
                now.into(),
                now.into(),
            ];
            insert.push_row(index == 0, values);
        }
        transaction.defer(insert).await?;
    }
    Ok(())
}

/// What an agent sees of a file whose text is there.
async fn visible(
    transaction: &mut Transaction,
    file: &FileId,
    lines: Lines,
    chars: usize,
) -> Result<String> {
    let query = "SELECT content FROM folder_files WHERE id = $1";
    let query = Statement::new(query).bind(file.to_string());
    let row = transaction.optional(query).await?;
    let text = row.map_or(Ok(None), |row| row.optional_text(0))?;
    view::of(&text.unwrap_or_default(), lines, chars).map_err(|_| StoreError::Invalid {
        what: "the range of lines",
        reason: "is not in the file",
    })
}

/// Closes the least recently used files until one more may be open; gives their names.
async fn close_for_one(
    transaction: &mut Transaction,
    agent: &AgentId,
    open: usize,
) -> Result<Vec<String>> {
    let files = open_files(transaction, agent).await?;
    let excess = (files.len() + 1).saturating_sub(open.max(1));
    let mut closed = Vec::new();
    for file in files.into_iter().take(excess) {
        close(transaction, &file.id).await?;
        closed.push(file.path);
    }
    Ok(closed)
}

/// The files in an agent's view, the least recently used first.
async fn open_files(transaction: &mut Transaction, agent: &AgentId) -> Result<Vec<AgentFile>> {
    let mut query = of_agent(agent);
    query.push(" AND is_open = 1 ORDER BY last_accessed_at, seq");
    let rows = transaction.all(query).await?;
    rows.iter().map(record).collect()
}

async fn close(transaction: &mut Transaction, id: &AgentFileId) -> Result<()> {
    let close = "UPDATE agent_files SET is_open = 0, visible = NULL, first_line = NULL,
        last_line = NULL WHERE id = $1";
    let close = Statement::new(close).bind(id.to_string());
    transaction.defer(close).await
}

async fn one(transaction: &mut Transaction, agent: &AgentId, file: &FileId) -> Result<AgentFile> {
    let mut query = of_agent(agent);
    query.push(" AND file_id = ").push_value(file.to_string());
    let row = transaction.optional(query).await?;
    let missing = || StoreError::NotFound {
        what: "file of the agent",
        id: file.to_string(),
    };
    record(&row.ok_or_else(missing)?)
}

/// A query for files of an agent; conditions may follow.
fn of_agent(agent: &AgentId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query
        .push(COLUMNS)
        .push(" FROM agent_files WHERE agent_id = ");
    query.push_value(agent.to_string());
    query
}

/// Now, and later than the last time in any case: the order of use is that of opening.
fn later(former: &AgentFile) -> Timestamp {
    let after = former.last_accessed_at.micros().saturating_add(1);
    Timestamp::now().max(Timestamp::from_micros(after))
}

fn number(line: Option<u64>) -> Option<i64> {
    line.map(|line| i64::try_from(line).unwrap_or(i64::MAX))
}

fn record(row: &Row) -> Result<AgentFile> {
    let line = |column| -> Result<Option<u64>> {
        let line = row.optional_int(column)?;
        Ok(line.and_then(|line| u64::try_from(line).ok()))
    };
    let name = row.optional_text(8)?.unwrap_or_default();
    let folder_name = row.optional_text(11)?.unwrap_or_default();
    Ok(AgentFile {
        id: row.parsed(0, "id of a file of an agent")?,
        file_id: row.parsed(1, "file id")?,
        folder_id: row.parsed(2, "folder id")?,
        is_open: row.int(3)? != 0,
        visible: row.optional_text(4)?,
        first_line: line(5)?,
        last_line: line(6)?,
        last_accessed_at: row.timestamp(7)?,
        path: format!("{folder_name}/{name}"),
        media_type: row.optional_text(9)?.unwrap_or_default(),
        size: line(10)?.unwrap_or_default(),
        folder_name,
    })
}
