//! Lists of users.

use bulkhead_domain::platform::{User, email::EMAIL_MAX};

use super::row::{COLUMNS, record};
use crate::{
    NumberedPage, Result, Store, check, compiled_here, fold::pattern, numbered::NumberedListing,
    sql::Statement,
};

const LISTING: NumberedListing = NumberedListing {
    columns: COLUMNS,
    from: "users",
    order: "seq",
};

/// Which users to list. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct UserFilter {
    /// With this somewhere in the address, in upper or lower case.
    pub email: Option<String>,
    /// Who may sign in, or may not.
    pub is_active: Option<bool>,
    /// Which page.
    pub page: NumberedPage,
}

impl Store {
    /// The users of a page, the first who were made first, and how many there are in all.
    #[compiled_here]
    pub async fn list_users(&self, filter: &UserFilter) -> Result<(Vec<User>, u64)> {
        let email = filter.email.as_deref();
        check::text("the search", email.unwrap_or_default(), EMAIL_MAX)?;
        let conditions = |query: &mut Statement| {
            if let Some(email) = email {
                query.push(" AND email LIKE ").push_value(pattern(email));
                query.push(" ESCAPE '\\'");
            }
            query.push_if(" AND is_active = ", filter.is_active);
        };
        let (rows, total) = LISTING.page(self, filter.page, conditions).await?;
        let users = rows.iter().map(record).collect::<Result<Vec<_>>>()?;
        Ok((users, total))
    }
}
