//! `bulkhead user`: people who sign in. These commands open the database themselves, since the first
//! superuser can't be made by one; a server may be running on it.
//!
//! - [`create`], [`list`], [`set_password`]: the commands.
//! - [`database`]: which database; [`secret`]: how a password is given; [`refusal`]: why one is
//!   refused.

mod create;
mod database;
mod list;
mod refusal;
mod secret;
mod set_password;

use bulkhead_domain::platform::User;
use clap::Subcommand;

use super::{
    error::CliError,
    exit::Exit,
    screen::{Paint, Screen},
};

const NOTE: &str = "\
These commands open the database of the installation themselves, with the settings that
`bulkhead serve` has; a server may be running on it.";

/// Make and list the people who sign in to the platform API, and set their passwords
#[derive(Debug, Subcommand)]
#[command(after_help = NOTE)]
pub(crate) enum UserCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    SetPassword(set_password::SetPasswordArgs),
}

pub(crate) async fn user(command: UserCommand, screen: Screen) -> Result<Exit, CliError> {
    match command {
        UserCommand::Create(args) => create::create(args, screen).await,
        UserCommand::List(args) => list::list(args, screen).await,
        UserCommand::SetPassword(args) => set_password::set_password(args, screen).await,
    }
}

/// A user in one line: address, names, what is special.
fn line(user: &User, screen: &Screen) -> String {
    let name = format!("{} {}", user.first_name, user.last_name);
    let mut line = format!("{:<40} {:<24}", user.email, name.trim());
    if user.is_superuser {
        line.push_str(&format!(" {}", screen.paint("superuser", Paint::Yellow)));
    }
    if !user.is_active {
        line.push_str(&format!(" {}", screen.paint("inactive", Paint::Dim)));
    }
    line.trim_end().to_owned()
}
