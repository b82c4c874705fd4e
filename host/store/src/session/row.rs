//! A session as a row.

use bulkhead_domain::{
    Timestamp,
    platform::{Session, SessionId},
};

use crate::{
    Result, StoreError,
    sql::{Row, Statement, Transaction},
};

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str =
    "id, user_id, generation, created_at, refreshed_at, expires_at, ended_at";

/// Writes a session that is not there yet.
pub(super) async fn insert(transaction: &mut Transaction, session: &Session) -> Result<()> {
    let insert = "INSERT INTO sessions
            (id, user_id, generation, created_at, refreshed_at, expires_at, ended_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let insert = Statement::new(insert)
        .bind(session.id.to_string())
        .bind(session.user_id.to_string())
        .bind(i64::from(session.generation))
        .bind(session.created_at)
        .bind(session.refreshed_at)
        .bind(session.expires_at)
        .bind(session.ended_at);
    transaction.defer(insert).await
}

pub(super) fn by_id(id: SessionId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM sessions WHERE id = ");
    query.push_value(id.to_string());
    query
}

pub(super) fn record(row: &Row) -> Result<Session> {
    let generation = u32::try_from(row.int(2)?);
    Ok(Session {
        id: row.parsed(0, "session id")?,
        user_id: row.parsed(1, "user of a session")?,
        generation: generation
            .map_err(|error| StoreError::corrupt("generation of a session", error))?,
        created_at: row.timestamp(3)?,
        refreshed_at: row.timestamp(4)?,
        expires_at: row.timestamp(5)?,
        ended_at: row.optional_int(6)?.map(Timestamp::from_micros),
    })
}
