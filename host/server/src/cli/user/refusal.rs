//! Why a user or a password was refused.

use bulkhead_access::PasswordError;
use bulkhead_domain::platform::{email, email::InvalidEmail};
use bulkhead_store::StoreError;

use crate::cli::{error::CliError, exit::Exit, serve::failed};

/// An address as it is stored.
pub(super) fn normalised(address: &str) -> Result<String, CliError> {
    email::normalised(address).map_err(|error: InvalidEmail| {
        CliError::new(
            Exit::InvalidInput,
            "invalid_email",
            format!("`{address}` is no address: {error}"),
        )
    })
}

/// A password that was refused, or could not be hashed.
pub(super) fn password(error: &PasswordError) -> CliError {
    match error {
        PasswordError::Weak(weakness) => {
            CliError::new(Exit::InvalidInput, "weak_password", weakness.to_string())
        }
        error => failed("host_error", error),
    }
}

/// What the database refused.
pub(super) fn store(error: &StoreError) -> CliError {
    match error {
        StoreError::NameTaken { name, .. } => CliError::new(
            Exit::InvalidInput,
            "email_taken",
            format!("there is already a user with the address {name}"),
        )
        .hint("`bulkhead user set-password` gives that user another password"),
        StoreError::Invalid { .. } | StoreError::Quota { .. } => {
            CliError::new(Exit::InvalidInput, "invalid_user", error.to_string())
        }
        error => failed("database_error", error),
    }
}
