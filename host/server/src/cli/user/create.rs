//! `bulkhead user create`: a person who may sign in.

use bulkhead_access::Passwords;
use bulkhead_domain::platform::User;
use bulkhead_store::Store;
use clap::Args;

use super::{database::DatabaseArgs, line, refusal, secret};
use crate::cli::{error::CliError, exit::Exit, screen::Screen, serve::failed};

/// Examples, then how the password is given.
fn help() -> String {
    format!(
        "\
Examples:
  pass show bulkhead | bulkhead user create --email ada@example.com --superuser
  BULKHEAD_PASSWORD=… bulkhead user create --email bob@example.com --first-name Bob --json

{}",
        secret::HELP
    )
}

/// Make a user; the first superuser of an installation is made like this
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct CreateArgs {
    /// The address to sign in with
    #[arg(long, value_name = "ADDRESS")]
    email: String,
    /// Allow everything: agent types, and the projects and instances of others
    #[arg(long)]
    superuser: bool,
    /// The given name
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    first_name: String,
    /// The family name
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    last_name: String,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) async fn create(args: CreateArgs, screen: Screen) -> Result<Exit, CliError> {
    let password = secret::read()?;
    let user = User {
        first_name: args.first_name.trim().to_owned(),
        last_name: args.last_name.trim().to_owned(),
        is_superuser: args.superuser,
        ..User::new(refusal::normalised(&args.email)?)
    };
    let passwords = Passwords::start().map_err(|error| failed("host_error", &error))?;
    let hash = passwords.accept(password, &user).await;
    let hash = hash.map_err(|error| refusal::password(&error))?;
    let store = args.database.open().await?;
    let stored = insert(&store, &user, &hash).await;
    store.close().await;
    stored?;
    if screen.json {
        screen.document(&user);
    } else {
        screen.out(format_args!("made {}", line(&user, &screen)));
    }
    Ok(Exit::Done)
}

async fn insert(store: &Store, user: &User, hash: &str) -> Result<(), CliError> {
    let created = store.create_user(user, hash).await;
    created.map_err(|error| refusal::store(&error))
}
