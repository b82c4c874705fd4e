//! Sessions: sign-ins of users, and which refresh token of each is valid.
//!
//! - `row`: a session as a row; `rotate`: one refresh token in place of another.

mod rotate;
mod row;

use bulkhead_domain::{
    Timestamp,
    platform::{Session, SessionId, UserId},
};

pub use rotate::Rotation;

use crate::{
    Result, Store,
    agent::missing,
    compiled_here,
    sql::{Durability, Statement, Transaction},
    user::lock_user,
};

/// Living sessions of one user: more devices and browsers than a person has. The oldest one ends
/// when one more begins.
pub const LIVING_MAX: i64 = 100;
/// Sessions that are deleted in one transaction: other writers wait some milliseconds.
const FORGOTTEN_AT_ONCE: i64 = 2_000;

impl Store {
    /// Stores a new session. Of more than [`LIVING_MAX`] living ones of the user the oldest end.
    /// [`crate::StoreError::NotFound`] where there is no such user, or one who may not sign in.
    #[compiled_here]
    pub async fn begin_session(&self, session: &Session) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        lock_active(&mut transaction, session.user_id).await?;
        begin(&mut transaction, session).await?;
        transaction.commit().await
    }

    /// As [`Store::begin_session`], for somebody whose password was found to have this hash. Gives how
    /// many of the oldest ended; none, and nothing is stored, where the user has another one by now, or
    /// may not sign in any more: comparing takes long, and what was changed meanwhile must not begin
    /// what its change would have ended.
    #[compiled_here]
    pub async fn begin_session_by_password(
        &self,
        session: &Session,
        password_hash: &str,
    ) -> Result<Option<u64>> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let user = lock_user(&mut transaction, session.user_id).await?;
        if !user.is_some_and(|user| user.is_active) {
            return Ok(None);
        }
        let same = "SELECT 1 FROM users WHERE id = $1 AND password_hash = $2";
        let same = Statement::new(same)
            .bind(session.user_id.to_string())
            .bind(password_hash);
        if transaction.optional(same).await?.is_none() {
            return Ok(None);
        }
        let ended = begin(&mut transaction, session).await?;
        transaction.commit().await?;
        Ok(Some(ended))
    }

    /// The session with this id, living or not.
    #[compiled_here]
    pub async fn session(&self, id: SessionId) -> Result<Option<Session>> {
        let row = self.database().optional(row::by_id(id)).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Ends a session. Whether nobody had ended it.
    #[compiled_here]
    pub async fn end_session(&self, id: SessionId) -> Result<bool> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let end = "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
        let end = Statement::new(end)
            .bind(id.to_string())
            .bind(Timestamp::now());
        let ended = transaction.execute(end).await? > 0;
        transaction.commit().await?;
        Ok(ended)
    }

    /// Ends all sessions of a user, and gives how many nobody had ended.
    #[compiled_here]
    pub async fn end_sessions(&self, user_id: UserId) -> Result<u64> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let ended = end_all(&mut transaction, user_id, None, Timestamp::now()).await?;
        transaction.commit().await?;
        Ok(ended)
    }

    /// Deletes the sessions that ended or ran out before this time, and gives how many. Deletes in
    /// short transactions, so it may be dropped at any time and called again.
    #[compiled_here]
    pub async fn forget_sessions(&self, before: Timestamp) -> Result<u64> {
        let mut forgotten = 0;
        loop {
            let mut transaction = self.database().begin(Durability::Process).await?;
            let delete = "DELETE FROM sessions WHERE seq IN (
                SELECT seq FROM sessions WHERE COALESCE(ended_at, expires_at) < $1 LIMIT $2)";
            let delete = Statement::new(delete).bind(before).bind(FORGOTTEN_AT_ONCE);
            let deleted = transaction.execute(delete).await?;
            transaction.commit().await?;
            forgotten += deleted;
            if deleted < FORGOTTEN_AT_ONCE.unsigned_abs() {
                return Ok(forgotten);
            }
        }
    }
}

/// The user, who may sign in, and whom from here to the end of the transaction nobody else changes.
async fn lock_active(transaction: &mut Transaction, id: UserId) -> Result<()> {
    let user = lock_user(transaction, id).await?;
    let user = user.filter(|user| user.is_active);
    user.map(drop).ok_or_else(|| missing("user", id))
}

/// Stores a session of a user who is locked, and ends the oldest where there are too many then; gives
/// how many.
async fn begin(transaction: &mut Transaction, session: &Session) -> Result<u64> {
    row::insert(transaction, session).await?;
    // Those that ran out are not living, and need no place.
    let oldest = "UPDATE sessions SET ended_at = $2
        WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2 AND seq <= (
            SELECT seq FROM sessions
            WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2
            ORDER BY seq DESC LIMIT 1 OFFSET $3)";
    let oldest = Statement::new(oldest)
        .bind(session.user_id.to_string())
        .bind(session.created_at)
        .bind(LIVING_MAX);
    transaction.execute(oldest).await
}

/// Ends all sessions of a user but the one to keep; gives how many nobody had ended.
pub(crate) async fn end_all(
    transaction: &mut Transaction,
    user_id: UserId,
    keep: Option<SessionId>,
    at: Timestamp,
) -> Result<u64> {
    let end = "UPDATE sessions SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL";
    let mut end = Statement::new(end).bind(user_id.to_string()).bind(at);
    end.push_if(" AND id <> ", keep.map(|id| id.to_string()));
    transaction.execute(end).await
}
