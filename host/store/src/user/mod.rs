//! Users: the people who sign in.
//!
//! - `row`: a user as a row; `filter`: lists and counts; `password`: hashes of passwords.
//!
//! The hash of a password is never a part of [`User`]. Whoever changes a user locks the row first.

mod filter;
mod password;
mod row;

use bulkhead_domain::{
    Timestamp,
    platform::{User, UserId},
};

pub use filter::UserFilter;
pub use password::PasswordOutcome;
pub(crate) use row::lock as lock_user;

use crate::{
    Result, Store, StoreError,
    agent::missing,
    compiled_here,
    session::end_all,
    sql::{Durability, Statement},
};

impl Store {
    /// Stores a new user. [`StoreError::NameTaken`] with the address where another one has it.
    #[compiled_here]
    pub async fn create_user(&self, user: &User, password_hash: &str) -> Result<()> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        row::insert(&mut transaction, user, password_hash).await?;
        transaction.commit().await
    }

    /// The user with this id.
    #[compiled_here]
    pub async fn user(&self, id: UserId) -> Result<Option<User>> {
        let row = self.database().optional(row::by_id(id)).await?;
        row.as_ref().map(row::record).transpose()
    }

    /// Changes a user; gives the user as it is then. Nobody else changes it from before `edit` sees
    /// it until it is stored. The id and when it was made stay what they were. All sessions of one
    /// who may not sign in any more end.
    ///
    /// [`StoreError::NotFound`] where there is no such user, [`StoreError::NameTaken`] where another
    /// one has the new address; where `edit` fails, nothing is stored.
    pub async fn update_user<E: From<StoreError>>(
        &self,
        id: UserId,
        edit: impl FnOnce(&mut User) -> Result<(), E> + Send,
    ) -> Result<User, E> {
        let mut transaction = self.database().begin(Durability::Power).await?;
        let former = row::lock(&mut transaction, id).await?;
        let former = former.ok_or_else(|| missing("user", id))?;
        let mut user = former.clone();
        edit(&mut user)?;
        user.id = former.id;
        user.created_at = former.created_at;
        user.updated_at = Timestamp::now();
        row::replace(&mut transaction, &user).await?;
        if !user.is_active {
            end_all(&mut transaction, id, None, user.updated_at).await?;
        }
        transaction.commit().await?;
        Ok(user)
    }

    /// How many users there are.
    #[compiled_here]
    pub async fn users_count(&self) -> Result<u64> {
        let count = Statement::new("SELECT COUNT(*) FROM users");
        let row = self.database().optional(count).await?;
        row.map_or(Ok(0), |row| row.unsigned(0))
    }
}
