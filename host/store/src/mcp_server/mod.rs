//! Servers of tools that speak MCP, and the tools that they bring. Their tokens and headers are
//! sealed at rest, and read by [`Store::mcp_secrets`] alone.
//!
//! - `row`: a server as a row; `secrets`: what is sealed of it; `tools`: the tools that it brings;
//!   `approvals`: what is kept of those that it does not list now.
//!
//! Whoever writes takes the lock of all tools, so that a server's name, its tools and what they say
//! of their server never disagree.

mod approvals;
mod row;
mod secrets;
mod tools;

use bulkhead_domain::{Timestamp, id::McpServerId};

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Statement, Transaction},
    tool::lock,
};

pub use secrets::{HEADERS_MAX, McpSecrets, SECRETS_MAX};
pub use tools::{MCP_TOOLS_MAX, NewMcpTool, SyncedTools};

/// Servers of one installation. Their list has no pages.
pub const SERVERS_MAX: u64 = 1000;
/// Bytes of a server's name. It stands in the tags of its tools, after a prefix.
pub const SERVER_NAME_MAX: usize = check::NAME_MAX - TAG_PREFIX.len();
/// What the tag of a server's tools has before the server's name.
pub(crate) const TAG_PREFIX: &str = "mcp:";

/// How messages travel to a server and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpTransport {
    /// Each message is a POST; answers come in its response.
    StreamableHttp,
    /// Answers come in one stream that is opened first: the older form.
    Sse,
}

impl McpTransport {
    /// The stable name, as the database and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StreamableHttp => "streamable_http",
            Self::Sse => "sse",
        }
    }
}

/// What no transport is called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a transport is streamable_http or sse")]
pub struct ParseTransportError;

impl std::str::FromStr for McpTransport {
    type Err = ParseTransportError;

    fn from_str(text: &str) -> Result<Self, ParseTransportError> {
        [Self::StreamableHttp, Self::Sse]
            .into_iter()
            .find(|transport| transport.as_str() == text)
            .ok_or(ParseTransportError)
    }
}

/// A server to store.
#[derive(Debug)]
pub struct NewMcpServer {
    /// Its name. No other server has it.
    pub name: String,
    /// How it is spoken to.
    pub transport: McpTransport,
    /// Where it is.
    pub url: String,
    /// The header that carries its token, where that is not the usual one.
    pub auth_header: Option<String>,
    /// Its token and headers.
    pub secrets: McpSecrets,
    /// Who registers it.
    pub user_id: Option<String>,
}

/// A stored server, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerRecord {
    /// Its id.
    pub id: McpServerId,
    /// Its name.
    pub name: String,
    /// How it is spoken to.
    pub transport: McpTransport,
    /// Where it is.
    pub url: String,
    /// The header that carries its token, where that is not the usual one.
    pub auth_header: Option<String>,
    /// Who registered it.
    pub created_by_id: Option<String>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Store {
    /// Stores a server; [`StoreError::NameTaken`] where one has its name.
    #[compiled_here]
    pub async fn create_mcp_server(&self, new: NewMcpServer) -> Result<McpServerRecord> {
        let now = Timestamp::now();
        let record = McpServerRecord {
            id: McpServerId::random(),
            name: new.name,
            transport: new.transport,
            url: new.url,
            auth_header: new.auth_header,
            created_by_id: new.user_id,
            created_at: now,
            updated_at: now,
        };
        row::check(&record)?;
        let sealed = new.secrets.seal(self.sealer(), &record)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        expect_room(&mut transaction).await?;
        expect_free(&mut transaction, &record).await?;
        row::put(&mut transaction, &record, sealed).await?;
        transaction.commit().await?;
        Ok(record)
    }

    /// The server with this id.
    #[compiled_here]
    pub async fn mcp_server(&self, id: &McpServerId) -> Result<Option<McpServerRecord>> {
        let row = self.database().optional(row::by_id(id)).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// The server with this name.
    #[compiled_here]
    pub async fn mcp_server_by_name(&self, name: &str) -> Result<Option<McpServerRecord>> {
        check::text("the MCP server's name", name, SERVER_NAME_MAX)?;
        let mut query = row::select();
        query.push(" WHERE name = ").push_value(name);
        let row = self.database().optional(query).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// All servers, the oldest first; [`SERVERS_MAX`] at most.
    #[compiled_here]
    pub async fn mcp_servers(&self) -> Result<Vec<McpServerRecord>> {
        let mut query = row::select();
        query.push(" ORDER BY seq");
        let rows = self.database().all(query).await?;
        rows.iter().map(row::record).collect()
    }

    /// A server with its secrets. [`StoreError::Corrupt`] where its row is not as this installation
    /// wrote it.
    #[compiled_here]
    pub async fn mcp_secrets(
        &self,
        id: &McpServerId,
    ) -> Result<Option<(McpServerRecord, McpSecrets)>> {
        let Some(row) = self.database().optional(row::by_id(id)).await? else {
            return Ok(None);
        };
        let record = row::record(&row)?;
        let secrets = McpSecrets::open(self.sealer(), &record, &row::sealed(&row)?)?;
        Ok(Some((record, secrets)))
    }

    /// Changes a server; nobody else changes it from before `change` sees it until it is stored. Its
    /// id, who registered it and when stay what they were. Where its name changes, its tools say so.
    /// [`StoreError::NameTaken`] where another one has the new name.
    pub async fn update_mcp_server<E: From<StoreError>>(
        &self,
        id: &McpServerId,
        change: impl FnOnce(&mut McpServerRecord, &mut McpSecrets) -> Result<(), E> + Send,
    ) -> Result<McpServerRecord, E> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let row = transaction.optional(row::by_id(id)).await?;
        let row = row.ok_or_else(|| missing(id))?;
        let former = row::record(&row)?;
        // They are bound to where they are sent, so that they are sealed anew with it.
        let mut secrets = McpSecrets::open(self.sealer(), &former, &row::sealed(&row)?)?;
        let mut record = former.clone();
        change(&mut record, &mut secrets)?;
        record.id = former.id;
        record.created_by_id.clone_from(&former.created_by_id);
        record.created_at = former.created_at;
        record.updated_at = Timestamp::now();
        row::check(&record)?;
        if record.name != former.name {
            expect_free(&mut transaction, &record).await?;
            tools::rename(&mut transaction, &former.name, &record).await?;
        }
        let sealed = secrets.seal(self.sealer(), &record)?;
        row::put(&mut transaction, &record, sealed).await?;
        transaction.commit().await?;
        Ok(record)
    }

    /// Deletes a server with its secrets and its tools, which no agent has any more. Whether it was
    /// there.
    #[compiled_here]
    pub async fn delete_mcp_server(&self, id: &McpServerId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock(&mut transaction).await?;
        let delete = Statement::new("DELETE FROM mcp_servers WHERE id = $1");
        let deleted = transaction.execute(delete.bind(id.to_string())).await? > 0;
        transaction.commit().await?;
        Ok(deleted)
    }
}

fn missing(id: &McpServerId) -> StoreError {
    StoreError::NotFound {
        what: "MCP server",
        id: id.to_string(),
    }
}

async fn expect_free(transaction: &mut Transaction, server: &McpServerRecord) -> Result<()> {
    let taken = Statement::new("SELECT 1 FROM mcp_servers WHERE name = $1 AND id <> $2")
        .bind(server.name.as_str())
        .bind(server.id.to_string());
    match transaction.optional(taken).await? {
        None => Ok(()),
        Some(_) => Err(StoreError::NameTaken {
            what: "MCP server",
            name: server.name.clone(),
        }),
    }
}

async fn expect_room(transaction: &mut Transaction) -> Result<()> {
    let count = Statement::new("SELECT COUNT(*) FROM mcp_servers");
    let count = transaction.optional(count).await?;
    if count.map_or(Ok(0), |row| row.unsigned(0))? < SERVERS_MAX {
        return Ok(());
    }
    Err(StoreError::Quota {
        what: "MCP servers",
        limit: SERVERS_MAX,
    })
}
