//! Tool state: small values that a tool keeps between its calls, changed by compare and swap.

use crate::{
    Result, Store, StoreError, check, compiled_here,
    sql::{Durability, Statement, Transaction},
};

/// Bytes of a key: a path or a URL fits, and every index takes it.
pub const STATE_KEY_MAX: usize = 512;
/// Bytes of a value. State is for cursors and caches, not for files.
pub const STATE_VALUE_MAX: usize = 256 << 10;
/// Keys of one namespace: one page lists them all.
pub const STATE_ENTRIES_MAX: u64 = 1000;
/// Bytes of all keys and values of one namespace.
pub const STATE_BYTES_MAX: u64 = 16 << 20;

/// Whose state it is. Nothing is shared from one namespace to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StateNamespace {
    /// Which tools share it, for example the name of their component.
    pub tool: String,
    /// The agent on whose behalf; empty where there is none.
    pub agent: String,
}

impl StateNamespace {
    /// The namespace of a tool on behalf of an agent.
    pub fn new(tool: impl Into<String>, agent: Option<&str>) -> Self {
        Self {
            tool: tool.into(),
            agent: agent.unwrap_or_default().to_owned(),
        }
    }

    fn check(&self) -> Result<()> {
        check::name("the namespace's tool", &self.tool)?;
        check::text("the namespace's agent", &self.agent, check::NAME_MAX)
    }

    /// The first two values of every statement here.
    fn bind(&self, text: &'static str) -> Statement {
        Statement::new(text)
            .bind(self.tool.as_str())
            .bind(self.agent.as_str())
    }
}

/// A value and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// The value.
    pub value: Vec<u8>,
    /// Never 0, and never used twice in one namespace, not even for a key that was deleted
    /// and made again.
    pub version: u64,
}

/// What a namespace holds.
struct Totals {
    sequence: i64,
    entries: u64,
    bytes: u64,
}

/// The version and the bytes of an entry.
struct Stored {
    version: u64,
    bytes: u64,
}

impl Store {
    /// The value of a key.
    #[compiled_here]
    pub async fn state_get(&self, space: &StateNamespace, key: &str) -> Result<Option<StateEntry>> {
        space.check()?;
        check_key(key)?;
        let query = "SELECT value, version FROM state_entries
            WHERE tool = $1 AND agent = $2 AND key = $3";
        let query = space.bind(query).bind(key.as_bytes().to_vec());
        let Some(row) = self.database().optional(query).await? else {
            return Ok(None);
        };
        Ok(Some(StateEntry {
            value: row.blob(0)?,
            version: row.unsigned(1)?,
        }))
    }

    /// Writes a value if the key has the version `expected`, or does not exist where that is
    /// none; gives the new version. Otherwise [`StoreError::Conflict`].
    #[compiled_here]
    pub async fn state_put(
        &self,
        space: &StateNamespace,
        key: &str,
        value: Vec<u8>,
        expected: Option<u64>,
    ) -> Result<u64> {
        space.check()?;
        check_key(key)?;
        if value.len() > STATE_VALUE_MAX {
            return Err(quota("bytes of the value", STATE_VALUE_MAX as u64));
        }
        let mut transaction = self.database().begin(Durability::Process).await?;
        let totals = lock(&mut transaction, space).await?;
        let stored = find(&mut transaction, space, key).await?;
        expect_version(stored.as_ref(), expected)?;

        let bytes = (key.len() + value.len()) as u64;
        let entries = totals.entries + u64::from(stored.is_none());
        let total = totals
            .bytes
            .saturating_sub(stored.map_or(0, |stored| stored.bytes))
            + bytes;
        if entries > STATE_ENTRIES_MAX {
            return Err(quota("keys of the namespace", STATE_ENTRIES_MAX));
        }
        if total > STATE_BYTES_MAX {
            return Err(quota("bytes of the namespace", STATE_BYTES_MAX));
        }
        let version = totals.sequence + 1;
        let put = "INSERT INTO state_entries (tool, agent, key, version, size, value)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (tool, agent, key) DO UPDATE SET
                version = excluded.version, size = excluded.size, value = excluded.value";
        let put = space
            .bind(put)
            .bind(key.as_bytes().to_vec())
            .bind(version)
            .bind(signed(bytes))
            .bind(value);
        transaction.defer(put).await?;
        save(
            &mut transaction,
            space,
            &Totals {
                sequence: version,
                entries,
                bytes: total,
            },
        )
        .await?;
        transaction.commit().await?;
        Ok(version.unsigned_abs())
    }

    /// Deletes a key that has the version `expected`. Otherwise [`StoreError::Conflict`].
    #[compiled_here]
    pub async fn state_delete(
        &self,
        space: &StateNamespace,
        key: &str,
        expected: u64,
    ) -> Result<()> {
        space.check()?;
        check_key(key)?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        let totals = lock(&mut transaction, space).await?;
        let stored = find(&mut transaction, space, key).await?;
        expect_version(stored.as_ref(), Some(expected))?;
        let delete = "DELETE FROM state_entries WHERE tool = $1 AND agent = $2 AND key = $3";
        transaction
            .execute(space.bind(delete).bind(key.as_bytes().to_vec()))
            .await?;
        let totals = Totals {
            sequence: totals.sequence,
            entries: totals.entries.saturating_sub(1),
            bytes: totals
                .bytes
                .saturating_sub(stored.map_or(0, |stored| stored.bytes)),
        };
        save(&mut transaction, space, &totals).await?;
        transaction.commit().await
    }

    /// The keys with this prefix, in the order of their bytes, [`crate::PAGE_MAX`] at most.
    #[compiled_here]
    pub async fn state_keys(
        &self,
        space: &StateNamespace,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<String>> {
        space.check()?;
        check_key(prefix)?;
        let mut query = space.bind("SELECT key FROM state_entries WHERE tool = $1 AND agent = $2");
        query
            .push(" AND key >= ")
            .push_value(prefix.as_bytes().to_vec());
        query.push_if(" AND key < ", end_of_prefix(prefix.as_bytes()));
        query
            .push(" ORDER BY key LIMIT ")
            .push_value(check::page(Some(limit)));
        let keys = self.database().all(query).await?;
        let text = |bytes| {
            String::from_utf8(bytes).map_err(|error| StoreError::corrupt("state key", error))
        };
        keys.iter().map(|row| row.blob(0).and_then(text)).collect()
    }

    /// Deletes a whole namespace. Whether it held anything.
    #[compiled_here]
    pub async fn clear_state(&self, space: &StateNamespace) -> Result<bool> {
        space.check()?;
        let mut transaction = self.database().begin(Durability::Process).await?;
        let mut totals = lock(&mut transaction, space).await?;
        let delete = "DELETE FROM state_entries WHERE tool = $1 AND agent = $2";
        let deleted = transaction.execute(space.bind(delete)).await? > 0;
        (totals.entries, totals.bytes) = (0, 0);
        save(&mut transaction, space, &totals).await?;
        transaction.commit().await?;
        Ok(deleted)
    }
}

/// Deletes the state of all tools of a component, for every agent: the namespaces whose tool
/// begins with its name and a slash.
pub(crate) async fn delete_of_component(
    transaction: &mut Transaction,
    component: &str,
) -> Result<()> {
    // Both databases compare bytes here, and "0" is the one after the slash. The entries go
    // with their namespace.
    let delete = "DELETE FROM state_namespaces WHERE tool >= $1 AND tool < $2";
    let delete = Statement::new(delete)
        .bind(format!("{component}/"))
        .bind(format!("{component}0"));
    transaction.defer(delete).await
}

/// From here to the end of the transaction nobody else changes this namespace.
async fn lock(transaction: &mut Transaction, space: &StateNamespace) -> Result<Totals> {
    let lock = "INSERT INTO state_namespaces (tool, agent, sequence, entries, bytes)
        VALUES ($1, $2, 0, 0, 0)
        ON CONFLICT (tool, agent) DO UPDATE SET sequence = state_namespaces.sequence
        RETURNING sequence, entries, bytes";
    let row = transaction.optional(space.bind(lock)).await?;
    let row = row.ok_or(StoreError::Corrupt {
        what: "state namespace",
        source: None,
    })?;
    Ok(Totals {
        sequence: row.int(0)?,
        entries: row.unsigned(1)?,
        bytes: row.unsigned(2)?,
    })
}

async fn save(
    transaction: &mut Transaction,
    space: &StateNamespace,
    totals: &Totals,
) -> Result<()> {
    let save = "UPDATE state_namespaces SET sequence = $3, entries = $4, bytes = $5
        WHERE tool = $1 AND agent = $2";
    let save = space
        .bind(save)
        .bind(totals.sequence)
        .bind(signed(totals.entries))
        .bind(signed(totals.bytes));
    transaction.defer(save).await
}

async fn find(
    transaction: &mut Transaction,
    space: &StateNamespace,
    key: &str,
) -> Result<Option<Stored>> {
    let query = "SELECT version, size FROM state_entries
        WHERE tool = $1 AND agent = $2 AND key = $3";
    let row = transaction
        .optional(space.bind(query).bind(key.as_bytes().to_vec()))
        .await?;
    row.map(|row| {
        Ok(Stored {
            version: row.unsigned(0)?,
            bytes: row.unsigned(1)?,
        })
    })
    .transpose()
}

fn expect_version(stored: Option<&Stored>, expected: Option<u64>) -> Result<()> {
    let current = stored.map(|stored| stored.version);
    if current == expected {
        return Ok(());
    }
    Err(StoreError::Conflict {
        current: current.unwrap_or(0),
    })
}

fn check_key(key: &str) -> Result<()> {
    if key.len() > STATE_KEY_MAX {
        return Err(quota("bytes of the key", STATE_KEY_MAX as u64));
    }
    Ok(())
}

/// The first key that is greater than all with this prefix; none where every key is smaller.
fn end_of_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

fn quota(what: &'static str, limit: u64) -> StoreError {
    StoreError::Quota { what, limit }
}

/// Counts here are bounded far below what the column takes.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_the_next_key_that_has_another() {
        assert_eq!(end_of_prefix(b""), None);
        assert_eq!(end_of_prefix(b"a"), Some(b"b".to_vec()));
        assert_eq!(end_of_prefix(b"a\xff"), Some(b"b".to_vec()));
        assert_eq!(end_of_prefix(b"\xff"), None);
    }
}
