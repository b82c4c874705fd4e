//! One refresh token in place of another.

use std::time::Duration;

use bulkhead_domain::{
    Timestamp,
    platform::{Session, SessionId},
};

use super::row::{COLUMNS, by_id, record};
use crate::{
    Result, Store, compiled_here,
    sql::{Durability, Statement, Transaction, micros},
};

/// What became of a refresh token that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rotation {
    /// It was the valid one; the next generation is from now on.
    Rotated(Session),
    /// It was used before, or is none that this session had: somebody else has a copy. The session is
    /// ended, whoever of them is the thief.
    Reused,
    /// The session was ended before, or its user may not sign in any more.
    Ended,
    /// It came too late.
    Expired,
    /// There is no such session.
    Unknown,
}

impl Store {
    /// Uses the refresh token of a session, with this generation, up: the next one is valid from now
    /// on, until `expires_at`, and no longer than `longest` after the session began. Of two that come
    /// at once one is [`Rotation::Rotated`], the other is [`Rotation::Reused`].
    #[compiled_here]
    pub async fn rotate_session(
        &self,
        (id, from_generation): (SessionId, u32),
        now: Timestamp,
        expires_at: Timestamp,
        longest: Duration,
    ) -> Result<Rotation> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let mut rotate = Statement::new(
            "UPDATE sessions SET generation = generation + 1, refreshed_at = $3,
                expires_at = CASE WHEN created_at + $5 < $4 THEN created_at + $5 ELSE $4 END
            WHERE id = $1 AND generation = $2 AND ended_at IS NULL AND expires_at > $3
                AND created_at + $5 > $3 AND user_id IN (SELECT id FROM users WHERE is_active = 1)
            RETURNING ",
        )
        .bind(id.to_string())
        .bind(i64::from(from_generation))
        .bind(now)
        .bind(expires_at)
        .bind(micros(longest));
        rotate.push(COLUMNS);
        let rotated = transaction.optional(rotate).await?;
        let rotation = match rotated.as_ref().map(record).transpose()? {
            Some(session) => Rotation::Rotated(session),
            None => refused(&mut transaction, (id, from_generation), now, longest).await?,
        };
        transaction.commit().await?;
        Ok(rotation)
    }
}

/// Why a token was not taken; ends the session of one that came twice.
async fn refused(
    transaction: &mut Transaction,
    (id, generation): (SessionId, u32),
    now: Timestamp,
    longest: Duration,
) -> Result<Rotation> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    let Some(session) = row.as_ref().map(record).transpose()? else {
        return Ok(Rotation::Unknown);
    };
    if session.ended_at.is_some() {
        return Ok(Rotation::Ended);
    }
    if session.generation != generation {
        let end = Statement::new("UPDATE sessions SET ended_at = $2 WHERE id = $1");
        let end = end.bind(id.to_string()).bind(now);
        transaction.defer(end).await?;
        return Ok(Rotation::Reused);
    }
    let age = now.micros().saturating_sub(session.created_at.micros());
    if session.is_living(now) && age < micros(longest) {
        // Its user was locked out.
        return Ok(Rotation::Ended);
    }
    Ok(Rotation::Expired)
}
