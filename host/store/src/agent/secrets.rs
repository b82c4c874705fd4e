//! The secrets of agents: what their tools find in their environment. Sealed at rest.

use std::collections::HashMap;

use bulkhead_domain::{
    AgentSecret, Timestamp,
    id::{AgentId, AgentSecretId},
};

use super::{
    limits,
    relations::{asked, by_agent},
};
use crate::{
    Result, Store, StoreError, check, compiled_here,
    sandbox_variable::{self, VARIABLE_VALUE_MAX},
    seal::Sealer,
    sql::{Row, Statement, Transaction},
};

const COLUMNS: &str = "agent_id, id, key, sealed, description, created_at, updated_at";

impl Store {
    /// The secrets of each of these agents, in the order of their keys. Every agent that is
    /// asked for has a list. [`StoreError::Corrupt`] where a row is not as this installation
    /// wrote it.
    #[compiled_here]
    pub async fn secrets_of(
        &self,
        agents: &[AgentId],
    ) -> Result<HashMap<AgentId, Vec<AgentSecret>>> {
        let rows = self.database().all(select(asked(agents)?)).await?;
        by_agent(agents, &rows, |row| record(self.sealer(), row))
    }
}

/// Makes exactly these the secrets of an agent. A key that it has keeps its id and what it is
/// for; where the value is the same too, nothing of it changes.
pub(super) async fn put_secrets(
    transaction: &mut Transaction,
    sealer: &Sealer,
    agent: &AgentId,
    secrets: &[(String, String)],
) -> Result<()> {
    // Of a key that is named twice, the last value counts, as in a JSON object.
    let wanted: HashMap<&str, &str> = secrets
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    check_secrets(&wanted)?;
    let rows = transaction.all(select(vec![agent.to_string()])).await?;
    let former = rows.iter().map(|row| record(sealer, row));
    let mut former = former
        .map(|secret| secret.map(|secret| (secret.key.clone(), secret)))
        .collect::<Result<HashMap<_, _>>>()?;
    let now = Timestamp::now();
    let mut changed = Vec::new();
    for (key, value) in wanted {
        match former.remove(key) {
            Some(secret) if secret.value == value => {}
            Some(mut secret) => {
                value.clone_into(&mut secret.value);
                secret.updated_at = now;
                changed.push(secret);
            }
            None => changed.push(AgentSecret {
                id: AgentSecretId::random(),
                agent_id: *agent,
                key: key.to_owned(),
                value: value.to_owned(),
                description: None,
                created_at: now,
                updated_at: now,
            }),
        }
    }
    if !former.is_empty() {
        let mut delete = Statement::new("DELETE FROM agent_secrets WHERE id IN (");
        delete.push_list(former.values().map(|secret| secret.id.to_string()));
        transaction.defer(delete).await?;
    }
    put(transaction, sealer, &changed).await
}

fn check_secrets(secrets: &HashMap<&str, &str>) -> Result<()> {
    if secrets.len() > limits::SECRETS_MAX {
        return Err(StoreError::Quota {
            what: "the agent's list of secrets",
            limit: limits::SECRETS_MAX as u64,
        });
    }
    for (key, value) in secrets {
        sandbox_variable::check_key("the secret's key", key)?;
        check::text("the secret's value", value, VARIABLE_VALUE_MAX)?;
    }
    Ok(())
}

/// Writes secrets, each in place of the one with its id.
async fn put(
    transaction: &mut Transaction,
    sealer: &Sealer,
    secrets: &[AgentSecret],
) -> Result<()> {
    if secrets.is_empty() {
        return Ok(());
    }
    let mut put = Statement::new("INSERT INTO agent_secrets (");
    put.push(COLUMNS).push(") VALUES ");
    for (index, secret) in secrets.iter().enumerate() {
        let (agent, id) = (secret.agent_id.to_string(), secret.id.to_string());
        let sealed = sealer.seal(secret.value.as_bytes(), &bound(&agent, &id, &secret.key))?;
        let row = [
            agent.into(),
            id.into(),
            secret.key.as_str().into(),
            sealed.into(),
            secret.description.as_deref().into(),
            secret.created_at.into(),
            secret.updated_at.into(),
        ];
        put.push_row(index == 0, row);
    }
    put.push(" ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed,");
    put.push(" updated_at = excluded.updated_at");
    transaction.defer(put).await
}

fn select(agents: Vec<String>) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS);
    query.push(" FROM agent_secrets WHERE agent_id IN (");
    query.push_list(agents).push(" ORDER BY key");
    query
}

/// What the value is bound to: a row with any of it changed does not open.
fn bound<'a>(agent: &'a str, id: &'a str, key: &'a str) -> [&'a str; 4] {
    ["agent secret", id, agent, key]
}

fn record(sealer: &Sealer, row: &Row) -> Result<AgentSecret> {
    let what = "agent secret";
    let (agent, id, key) = (row.text(0)?, row.text(1)?, row.text(2)?);
    let value = sealer.open(&row.blob(3)?, &bound(&agent, &id, &key));
    let value = value.ok_or(StoreError::Corrupt { what, source: None })?;
    let value = std::str::from_utf8(&value).map_err(|error| StoreError::corrupt(what, error))?;
    Ok(AgentSecret {
        id: row.parsed(1, "id of an agent secret")?,
        agent_id: row.parsed(0, "agent id")?,
        value: value.to_owned(),
        key,
        description: row.optional_text(4)?,
        created_at: row.timestamp(5)?,
        updated_at: row.timestamp(6)?,
    })
}
