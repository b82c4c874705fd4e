//! `bulkhead user set-password`: another password for somebody who lost theirs.

use bulkhead_access::{Password, Passwords};
use bulkhead_domain::platform::User;
use bulkhead_store::Store;
use clap::Args;

use super::{database::DatabaseArgs, refusal, secret};
use crate::cli::{error::CliError, exit::Exit, screen::Screen, serve::failed};

/// Examples, then how the password is given.
fn help() -> String {
    format!(
        "\
Examples:
  pass generate ada | bulkhead user set-password --email ada@example.com

All sign-ins of the user end; a running server notices within seconds.

{}",
        secret::HELP
    )
}

/// Give a user another password, and end the sign-ins made with the former one
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct SetPasswordArgs {
    /// The address of the user
    #[arg(long, value_name = "ADDRESS")]
    email: String,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) async fn set_password(args: SetPasswordArgs, screen: Screen) -> Result<Exit, CliError> {
    let password = secret::read()?;
    let email = refusal::normalised(&args.email)?;
    let store = args.database.open().await?;
    let changed = change(&store, &email, password).await;
    store.close().await;
    let user = changed?;
    if screen.json {
        screen.document(&user);
    } else {
        screen.out(format_args!("{} has another password", user.email));
    }
    Ok(Exit::Done)
}

/// Gives the password to the user of this address.
async fn change(store: &Store, email: &str, password: Password) -> Result<User, CliError> {
    let found = store.user_by_email(email).await;
    let Some((user, _)) = found.map_err(|error| refusal::store(&error))? else {
        return Err(CliError::new(
            Exit::InvalidInput,
            "no_such_user",
            format!("there is no user with the address {email}"),
        )
        .hint("`bulkhead user list` shows all"));
    };
    let passwords = Passwords::start().map_err(|error| failed("host_error", &error))?;
    let hash = passwords.accept(password, &user).await;
    let hash = hash.map_err(|error| refusal::password(&error))?;
    let set = store.set_password(user.id, &hash, None).await;
    set.map_err(|error| refusal::store(&error))?;
    Ok(user)
}
