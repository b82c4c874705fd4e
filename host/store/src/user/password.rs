//! Hashes of passwords, and whom they belong to.

use bulkhead_domain::{
    Timestamp,
    platform::{SessionId, User, UserId, email::EMAIL_MAX},
};

use super::row::{COLUMNS, check_hash, lock, record};
use crate::{
    Result, Store,
    agent::missing,
    compiled_here,
    session::end_all,
    sql::{Durability, Statement},
};

/// What became of a password that its user changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordOutcome {
    /// It is the new one.
    Changed,
    /// The user has another password by now than the one that was compared.
    Outdated,
    /// The session from which it came has ended.
    SignedOut,
}

impl Store {
    /// The user with this address, as [`bulkhead_domain::platform::email::normalised`] gives it, and
    /// the hash of the password. One who may not sign in is given too.
    #[compiled_here]
    pub async fn user_by_email(&self, email: &str) -> Result<Option<(User, String)>> {
        // What no database could have is nobody's.
        if email.len() > EMAIL_MAX || email.contains('\0') {
            return Ok(None);
        }
        let mut query = Statement::new("SELECT ");
        query.push(COLUMNS).push(", password_hash FROM users");
        query.push(" WHERE email = ").push_value(email);
        let row = self.database().optional(query).await?;
        row.map(|row| Ok((record(&row)?, row.text(8)?))).transpose()
    }

    /// The hash of a user's password.
    #[compiled_here]
    pub async fn password_hash(&self, id: UserId) -> Result<Option<String>> {
        let query = Statement::new("SELECT password_hash FROM users WHERE id = $1");
        let row = self.database().optional(query.bind(id.to_string())).await?;
        row.map(|row| row.text(0)).transpose()
    }

    /// Gives a user another password, and ends all sessions but the one to keep: whoever knew the
    /// former password is out. [`crate::StoreError::NotFound`] where there is no such user.
    #[compiled_here]
    pub async fn set_password(
        &self,
        id: UserId,
        password_hash: &str,
        keep_session: Option<SessionId>,
    ) -> Result<()> {
        check_hash(password_hash)?;
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        let user = lock(&mut transaction, id).await?;
        user.ok_or_else(|| missing("user", id))?;
        let update = "UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1";
        let update = Statement::new(update)
            .bind(id.to_string())
            .bind(password_hash)
            .bind(now);
        transaction.defer(update).await?;
        end_all(&mut transaction, id, keep_session, now).await?;
        transaction.commit().await
    }

    /// As [`Store::set_password`], for a user who has shown a password with the hash `former` in the
    /// session to keep. Comparing takes long: nothing is written where the password was changed
    /// meanwhile or the session has ended.
    #[compiled_here]
    pub async fn change_password(
        &self,
        id: UserId,
        former: &str,
        newer: &str,
        session: SessionId,
    ) -> Result<PasswordOutcome> {
        check_hash(former)?;
        check_hash(newer)?;
        let now = Timestamp::now();
        let mut transaction = self.database().begin(Durability::Power).await?;
        let user = lock(&mut transaction, id).await?;
        user.ok_or_else(|| missing("user", id))?;
        let living = "SELECT 1 FROM sessions
            WHERE id = $1 AND user_id = $2 AND ended_at IS NULL AND expires_at > $3";
        let living = Statement::new(living)
            .bind(session.to_string())
            .bind(id.to_string())
            .bind(now);
        if transaction.optional(living).await?.is_none() {
            return Ok(PasswordOutcome::SignedOut);
        }
        let update = "UPDATE users SET password_hash = $3, updated_at = $4
            WHERE id = $1 AND password_hash = $2";
        let update = Statement::new(update)
            .bind(id.to_string())
            .bind(former)
            .bind(newer)
            .bind(now);
        if transaction.execute(update).await? == 0 {
            return Ok(PasswordOutcome::Outdated);
        }
        end_all(&mut transaction, id, Some(session), now).await?;
        transaction.commit().await?;
        Ok(PasswordOutcome::Changed)
    }

    /// Writes another hash of the password that a user has, made in a newer way. Sessions go on.
    /// False where the user's hash is not `former` any more: the password was changed meanwhile.
    #[compiled_here]
    pub async fn rehash_password(&self, id: UserId, former: &str, newer: &str) -> Result<bool> {
        check_hash(former)?;
        check_hash(newer)?;
        let mut transaction = self.database().begin(Durability::Power).await?;
        let update = "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
        let update = Statement::new(update)
            .bind(id.to_string())
            .bind(former)
            .bind(newer);
        let updated = transaction.execute(update).await? > 0;
        transaction.commit().await?;
        Ok(updated)
    }
}
