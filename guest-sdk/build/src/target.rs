//! The compiler's target for components.

use std::{
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{BuildError, toolchain};

/// The target that makes components.
pub const TRIPLE: &str = "wasm32-wasip2";

/// Makes sure that the compiler used in `folder` can make components: looks for the target, and
/// lets rustup add it where it is missing.
pub fn ensure(folder: &Path) -> Result<(), BuildError> {
    ensure_in(&sysroot(folder)?, || add(folder))
}

/// Whether the compiler used in `folder` has the target.
pub fn installed(folder: &Path) -> Result<bool, BuildError> {
    Ok(is_in(&sysroot(folder)?))
}

/// Build scripts and guests are built at once, and rustup fails where two of it add the same target:
/// one looks and adds at a time, in this process and in others.
fn ensure_in(sysroot: &Path, add: impl FnOnce() -> bool) -> Result<(), BuildError> {
    // The lock ends with the file. Where a folder can't be opened as one (Windows) or locked, nobody
    // waits.
    let folder = File::open(sysroot);
    let _locked = folder.and_then(|folder| folder.lock().map(|()| folder));
    if is_in(sysroot) || (add() && is_in(sysroot)) {
        return Ok(());
    }
    Err(BuildError::MissingTarget)
}

/// The folder of the compiler used in `folder`, and of its targets.
fn sysroot(folder: &Path) -> Result<PathBuf, BuildError> {
    let rustc = toolchain::program("RUSTC", "rustc", folder);
    let mut command = Command::new(&rustc);
    command
        .args(["--print", "sysroot"])
        .current_dir(folder)
        .stderr(Stdio::inherit());
    toolchain::choose(&mut command, folder);
    let output = match command.output() {
        Ok(output) if !output.status.success() => Err(std::io::Error::other(format!(
            "--print sysroot ended with {}",
            output.status
        ))),
        output => output,
    };
    let output = output.map_err(start(rustc))?;
    Ok(PathBuf::from(
        String::from_utf8_lossy(&output.stdout).trim(),
    ))
}

fn is_in(sysroot: &Path) -> bool {
    let libraries = sysroot.join("lib/rustlib").join(TRIPLE).join("lib");
    libraries.is_dir()
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
    use std::{
        fs,
        sync::atomic::{AtomicUsize, Ordering},
        thread,
        time::Duration,
    };

    use super::{TRIPLE, ensure_in};
    use crate::{BuildError, scratch::Scratch};

    #[test]
    fn guests_that_are_built_at_once_add_a_missing_target_once() {
        let sysroot = Scratch::new("target");
        let libraries = sysroot.path().join("lib/rustlib").join(TRIPLE).join("lib");
        let added = AtomicUsize::new(0);
        let add = || {
            added.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            fs::create_dir_all(&libraries).is_ok()
        };
        thread::scope(|scope| {
            let builds: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| ensure_in(sysroot.path(), add)))
                .collect();
            for build in builds {
                let ensured = build.join().expect("no build panics");
                assert!(ensured.is_ok(), "{ensured:?}");
            }
        });
        assert_eq!(added.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_target_that_was_not_added_is_missing() {
        let sysroot = Scratch::new("no-target");
        let missing = ensure_in(sysroot.path(), || false);
        assert!(matches!(missing, Err(BuildError::MissingTarget)));
        let missing = ensure_in(sysroot.path(), || true);
        assert!(matches!(missing, Err(BuildError::MissingTarget)));
    }

    #[test]
    fn a_missing_target_names_the_one_command_that_helps() {
        assert!(
            BuildError::MissingTarget
                .to_string()
                .contains(&format!("rustup target add {TRIPLE}"))
        );
    }
}
