//! `bulkhead user list`: who may sign in.

use bulkhead_domain::platform::User;
use bulkhead_store::{NumberedPage, Store, StoreError, UserFilter, numbered::PAGE_SIZE_MAX};
use clap::Args;

use super::{database::DatabaseArgs, line, refusal};
use crate::cli::{error::CliError, exit::Exit, screen::Screen};

const EXAMPLES: &str = "\
Examples:
  bulkhead user list
  bulkhead user list --email @example.com --json | jq -r '.[].id'";

/// List the users
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// Only those with this somewhere in the address
    #[arg(long, value_name = "TEXT")]
    email: Option<String>,
    /// At most so many, the first who were made first
    #[arg(long, default_value_t = 100)]
    limit: u32,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) async fn list(args: ListArgs, screen: Screen) -> Result<Exit, CliError> {
    let store = args.database.open().await?;
    let read = read(&store, args.email, args.limit as usize).await;
    store.close().await;
    let (users, total) = read.map_err(|error| refusal::store(&error))?;
    if screen.json {
        screen.document(&users);
    } else {
        for user in &users {
            screen.out(line(user, &screen));
        }
    }
    if total == 0 {
        screen.note("no users; `bulkhead user create` makes one");
    } else if total > users.len() as u64 {
        let more = total - users.len() as u64;
        screen.note(format_args!("{more} more; --limit shows them"));
    }
    Ok(Exit::Done)
}

/// The first users, page by page, and how many there are in all.
async fn read(
    store: &Store,
    email: Option<String>,
    limit: usize,
) -> Result<(Vec<User>, u64), StoreError> {
    let mut filter = UserFilter {
        email,
        page: NumberedPage {
            page: 1,
            page_size: PAGE_SIZE_MAX,
        },
        ..UserFilter::default()
    };
    let mut users = Vec::new();
    loop {
        let (page, total) = store.list_users(&filter).await?;
        let is_last = page.len() < PAGE_SIZE_MAX as usize;
        users.extend(page);
        if is_last || users.len() >= limit {
            users.truncate(limit);
            return Ok((users, total));
        }
        filter.page.page += 1;
    }
}
