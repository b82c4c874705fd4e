//! The compiler's target for components.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{BuildError, toolchain};

/// The target that makes components.
pub const TRIPLE: &str = "wasm32-wasip2";

/// Makes sure that the compiler used in `folder` can make components: looks for the target, and
/// lets rustup add it where it is missing.
pub fn ensure(folder: &Path) -> Result<(), BuildError> {
    if installed(folder)? || (add(folder) && installed(folder)?) {
        return Ok(());
    }
    Err(BuildError::MissingTarget)
}

/// Whether the compiler used in `folder` has the target.
pub fn installed(folder: &Path) -> Result<bool, BuildError> {
    let rustc = toolchain::program("RUSTC", "rustc", folder);
    let mut command = Command::new(&rustc);
    command
        .args(["--print", "sysroot"])
        .current_dir(folder)
        .stderr(Stdio::inherit());
    toolchain::choose(&mut command, folder);
    let output = command.output().map_err(start(rustc))?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    Ok(sysroot
        .join("lib/rustlib")
        .join(TRIPLE)
        .join("lib")
        .is_dir())
}

/// Whether rustup added the target. Without rustup (a distribution's compiler) it can't.
fn add(folder: &Path) -> bool {
    let mut command = Command::new("rustup");
    command.args(["target", "add", TRIPLE]).current_dir(folder);
    toolchain::choose(&mut command, folder);
    // A build script's stdout belongs to cargo.
    command.stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

pub(crate) fn start(program: OsString) -> impl FnOnce(std::io::Error) -> BuildError {
    move |source| BuildError::Start {
        program: program.to_string_lossy().into_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::TRIPLE;
    use crate::BuildError;

    #[test]
    fn a_missing_target_names_the_one_command_that_helps() {
        assert!(
            BuildError::MissingTarget
                .to_string()
                .contains(&format!("rustup target add {TRIPLE}"))
        );
    }
}
