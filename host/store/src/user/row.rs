//! A user as a row.

use bulkhead_domain::platform::{User, UserId, email::EMAIL_MAX};

use crate::{
    Result, StoreError, check,
    sql::{Row, Statement, Transaction},
};

/// Bytes of the hash of a password, in the form that says how it was made.
const HASH_MAX: usize = 1024;

/// The columns of [`record`], in its order.
pub(super) const COLUMNS: &str =
    "id, email, first_name, last_name, is_superuser, is_active, created_at, updated_at";

/// Refuses what no user has.
fn check(user: &User) -> Result<()> {
    check::name("the user's address", &user.email)?;
    check::text("the user's address", &user.email, EMAIL_MAX)?;
    check::text("the user's first name", &user.first_name, check::NAME_MAX)?;
    check::text("the user's last name", &user.last_name, check::NAME_MAX)
}

pub(super) fn check_hash(hash: &str) -> Result<()> {
    check::name("the hash of the password", hash)?;
    check::text("the hash of the password", hash, HASH_MAX)
}

/// Writes a user who is not there yet.
pub(super) async fn insert(transaction: &mut Transaction, user: &User, hash: &str) -> Result<()> {
    check(user)?;
    check_hash(hash)?;
    let insert = "INSERT INTO users (id, email, first_name, last_name, is_superuser, is_active,
            password_hash, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let insert = Statement::new(insert)
        .bind(user.id.to_string())
        .bind(user.email.as_str())
        .bind(user.first_name.as_str())
        .bind(user.last_name.as_str())
        .bind(user.is_superuser)
        .bind(user.is_active)
        .bind(hash)
        .bind(user.created_at)
        .bind(user.updated_at);
    let inserted = transaction.execute(insert).await;
    inserted.map(drop).map_err(|error| taken(error, user))
}

/// Writes a user in place of the one with the id, whose row is locked.
pub(super) async fn replace(transaction: &mut Transaction, user: &User) -> Result<()> {
    check(user)?;
    let replace = "UPDATE users SET email = $2, first_name = $3, last_name = $4,
        is_superuser = $5, is_active = $6, updated_at = $7 WHERE id = $1";
    let replace = Statement::new(replace)
        .bind(user.id.to_string())
        .bind(user.email.as_str())
        .bind(user.first_name.as_str())
        .bind(user.last_name.as_str())
        .bind(user.is_superuser)
        .bind(user.is_active)
        .bind(user.updated_at);
    let replaced = transaction.execute(replace).await;
    replaced.map(drop).map_err(|error| taken(error, user))
}

fn taken(error: StoreError, user: &User) -> StoreError {
    error.or_taken("user", &user.email)
}

/// The user, whom from here to the end of the transaction nobody else changes or deletes.
pub(crate) async fn lock(transaction: &mut Transaction, id: UserId) -> Result<Option<User>> {
    let mut query = by_id(id);
    query.push(transaction.for_update());
    let row = transaction.optional(query).await?;
    row.as_ref().map(record).transpose()
}

pub(super) fn by_id(id: UserId) -> Statement {
    let mut query = Statement::new("SELECT ");
    query.push(COLUMNS).push(" FROM users WHERE id = ");
    query.push_value(id.to_string());
    query
}

pub(super) fn record(row: &Row) -> Result<User> {
    Ok(User {
        id: row.parsed(0, "user id")?,
        email: row.text(1)?,
        first_name: row.text(2)?,
        last_name: row.text(3)?,
        is_superuser: row.int(4)? != 0,
        is_active: row.int(5)? != 0,
        created_at: row.timestamp(6)?,
        updated_at: row.timestamp(7)?,
    })
}
