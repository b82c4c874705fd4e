//! The folder of a server: private, and in use by one server at a time.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    path::Path,
};

/// The file whose lock says that a server runs on the folder.
const LOCK_FILE: &str = "lock";

/// Makes the folder where it is missing, for this user only: it holds keys and the database.
/// One that was made by somebody else keeps its rights, and the log says where they are wider.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    if is_open_to_others(folder)? {
        tracing::warn!(
            folder = %folder.display(),
            "other users of this machine can enter the data folder; chmod 700 closes it"
        );
    }
    Ok(())
}

#[cfg(unix)]
fn is_open_to_others(folder: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::metadata(folder)?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Locks the folder until the file is dropped, or the process ends however it ends.
/// [`TryLockError::WouldBlock`] where another server runs on it.
pub(crate) fn lock(folder: &Path) -> Result<File, TryLockError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options
        .open(folder.join(LOCK_FILE))
        .map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn wider_rights_of_a_folder_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, expected) in [(0o700, false), (0o750, true), (0o701, true)] {
            let rights = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(folder.path(), rights).unwrap();
            assert_eq!(is_open_to_others(folder.path()).unwrap(), expected);
        }
    }

    #[test]
    fn a_folder_is_locked_once_and_free_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        assert!(matches!(lock(folder.path()), Err(TryLockError::WouldBlock)));
        drop(held);
        lock(folder.path()).unwrap();
    }
}
