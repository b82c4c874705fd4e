//! What can go wrong between the host and its database, by what a caller can do about it.

use std::error::Error as StdError;

use bulkhead_domain::platform::InstanceStatus;

/// A failed operation of the store. Decided by codes of the database, never by its texts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Something that the call names is not there.
    #[error("there is no {what} {id}")]
    NotFound {
        /// The kind of thing.
        what: &'static str,
        /// What was asked for.
        id: String,
    },
    /// The entry has another version than the caller expected; read it again and decide anew.
    #[error("the entry is at version {current}, not at the expected one (0: it does not exist)")]
    Conflict {
        /// The version that is there, 0 where there is none.
        current: u64,
    },
    /// Somebody changed it since it was read, so that what was made of it is not stored.
    #[error("the {what} has changed meanwhile")]
    Changed {
        /// The kind of thing.
        what: &'static str,
    },
    /// The messages in context are not those that the caller had read: something else was
    /// committed meanwhile. Read the thread again and decide anew.
    #[error("the messages in the context of {thread} have changed meanwhile")]
    ThreadChanged {
        /// The agent's id, or the conversation's.
        thread: String,
    },
    /// What can have only one of these has another one already.
    #[error("{owner} already has the {what} {id}")]
    AlreadyHas {
        /// What has it.
        owner: String,
        /// The kind of thing.
        what: &'static str,
        /// The one that it has.
        id: String,
    },
    /// Another entry has this name; choose another one, or change that entry.
    #[error("there is already a {what} named {name}")]
    NameTaken {
        /// The kind of thing.
        what: &'static str,
        /// The name that is taken.
        name: String,
    },
    /// The call names other entries that are not there; nothing was written.
    #[error("there is no {what} {}", ids.join(", "))]
    UnknownReferences {
        /// The kind of thing.
        what: &'static str,
        /// Those that are not there, in the order in which they were named.
        ids: Vec<String>,
    },
    /// The entry may not be changed in this way; nothing was written.
    #[error("the {what} {id} is read-only")]
    ReadOnly {
        /// The kind of thing.
        what: &'static str,
        /// What was asked for.
        id: String,
    },
    /// A person paused the agent: it takes no messages until somebody resumes it.
    #[error("the agent {agent} is paused")]
    AgentPaused {
        /// The agent's id.
        agent: String,
    },
    /// A person terminated the agent: it takes no messages any more.
    #[error("the agent {agent} is terminated")]
    AgentTerminated {
        /// The agent's id.
        agent: String,
    },
    /// The agent can't come from its present standing to the one that was asked for; nothing was
    /// changed.
    #[error("the agent {agent} is {}", status.as_str())]
    WrongStanding {
        /// The agent's id.
        agent: String,
        /// What it does.
        status: InstanceStatus,
    },
    /// Something else needs the entry; nothing was deleted.
    #[error("the {what} is in use by {by}")]
    InUse {
        /// The kind of thing.
        what: &'static str,
        /// The name of one that uses it.
        by: String,
    },
    /// The same bytes are already stored under another name; delete that one first.
    #[error("this component is already stored under the name {name}")]
    OtherName {
        /// The name that has it.
        name: String,
    },
    /// A limit of the store would be exceeded; nothing was written.
    #[error("{what} is over its limit of {limit}")]
    Quota {
        /// What is too large or too many, with its unit.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The call's own arguments are unusable.
    #[error("{what} {reason}")]
    Invalid {
        /// Which argument.
        what: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The database was made with another installation key; bring that key.
    #[error("the database was made with another installation key")]
    WrongKey,
    /// A newer release of this program has changed the database; run that release.
    #[error("the database has schema version {found}; this program knows up to {known}")]
    NewerDatabase {
        /// The version of the database.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The database URL is not understood. Its text is not repeated: it may hold a password.
    #[error("the database URL must be sqlite::memory:, sqlite://PATH or postgres://…")]
    Url(#[source] Option<sqlx::Error>),
    /// The disk, or the size that the database may have, is full; nothing was written.
    #[error("the database has no space left")]
    Full(#[source] sqlx::Error),
    /// The database cannot be reached or is too busy; the same call may succeed later.
    #[error("the database is unavailable")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// What is stored cannot be read back: damage, or a change by another hand.
    #[error("stored {what} cannot be read back")]
    Corrupt {
        /// What was being read.
        what: &'static str,
        /// Why, where something said so.
        #[source]
        source: Option<Box<dyn StdError + Send + Sync>>,
    },
    /// The receipt writer was closed.
    #[error("the receipt writer is closed")]
    Closed,
    /// Receipts could not be stored after all retries; the log has them in full.
    #[error("{count} receipts could not be stored; the log has them")]
    Lost {
        /// How many, since the last flush that said so.
        count: u64,
    },
    /// The database refused a statement for a reason that no caller can help: a defect here.
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// Whether the same call may succeed later without anybody changing its arguments.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Full(_))
    }

    /// What it means that a row was refused because another one has its name.
    pub(crate) fn or_taken(self, what: &'static str, name: &str) -> Self {
        match self {
            Self::Database(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                Self::NameTaken {
                    what,
                    name: name.to_owned(),
                }
            }
            error => error,
        }
    }

    pub(crate) fn corrupt(
        what: &'static str,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self::Corrupt {
            what,
            source: Some(source.into()),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        let class = match &error {
            E::Io(_) | E::Tls(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => {
                Class::Unavailable
            }
            E::Configuration(_) => Class::Url,
            E::ColumnDecode { .. } | E::Decode(_) => Class::Corrupt,
            E::Database(database) => {
                let code = database.code().unwrap_or_default();
                if database
                    .try_downcast_ref::<sqlx::postgres::PgDatabaseError>()
                    .is_some()
                {
                    postgres_class(&code)
                } else {
                    sqlite_class(&code)
                }
            }
            _ => Class::Other,
        };
        match class {
            Class::Full => Self::Full(error),
            Class::Unavailable => Self::Unavailable(Box::new(error)),
            Class::Corrupt => Self::corrupt("data", error),
            Class::TooLarge => Self::Quota {
                what: "bytes of one value",
                limit: SQLITE_VALUE_MAX,
            },
            Class::Url => Self::Url(Some(error)),
            Class::Other => Self::Database(error),
        }
    }
}

/// What SQLite takes as one value: its compile-time default, 10⁹ bytes.
const SQLITE_VALUE_MAX: u64 = 1_000_000_000;

enum Class {
    Full,
    Unavailable,
    Corrupt,
    TooLarge,
    Url,
    Other,
}

/// SQLite's result codes; the low byte of an extended code is the primary one.
fn sqlite_class(code: &str) -> Class {
    match code.parse::<u32>().map(|code| code & 0xff) {
        // BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CANTOPEN, PROTOCOL, SCHEMA.
        Ok(5..=10 | 14 | 15 | 17) => Class::Unavailable,
        Ok(13) => Class::Full,
        Ok(18) => Class::TooLarge,
        // CORRUPT, NOTADB.
        Ok(11 | 26) => Class::Corrupt,
        _ => Class::Other,
    }
}

/// SQLSTATE of Postgres.
fn postgres_class(code: &str) -> Class {
    match code {
        "53100" => Class::Full,
        // Data and index corrupted.
        "XX001" | "XX002" => Class::Corrupt,
        "54000" => Class::TooLarge,
        // Serialisation failure, deadlock, lock not available, read-only transaction.
        "40001" | "40P01" | "55P03" | "25006" => Class::Unavailable,
        // Connection, resources, operator intervention, authorisation, system error.
        _ if ["08", "53", "57", "28", "58"]
            .iter()
            .any(|class| code.starts_with(class)) =>
        {
            Class::Unavailable
        }
        // No such database.
        "3D000" => Class::Unavailable,
        _ => Class::Other,
    }
}

/// The result of an operation of the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
