//! Which toolchain builds a guest: the one that its workspace pins.
//!
//! Rustup hands the toolchain of the outer cargo on, and that counts more than any file. Where the
//! host is built with another one, a nightly for fuzzing for example, the guests would be built
//! with it too, which may not have their target and is not what was tested.

use std::{env, ffi::OsString, fs, path::Path, process::Command};

/// By which rustup says which toolchain runs.
const VARIABLE: &str = "RUSTUP_TOOLCHAIN";

/// A program of the toolchain for `folder`: the one that `variable` names, as cargo sets it, or
/// rustup's `name` where another toolchain is pinned than the one that is running.
pub(crate) fn program(variable: &str, name: &str, folder: &Path) -> OsString {
    let given = env::var_os(variable).filter(|_| !is_other(folder));
    given.unwrap_or_else(|| name.into())
}

/// Lets rustup choose by the files in and above `folder`, where they pin another toolchain than the
/// one that is running.
pub(crate) fn choose(command: &mut Command, folder: &Path) {
    if is_other(folder) {
        // Cargo hands the second one on to what it starts.
        command.env_remove(VARIABLE).env_remove("CARGO");
    }
}

fn is_other(folder: &Path) -> bool {
    let Some(running) = env::var(VARIABLE).ok() else {
        // No rustup, so that there is one toolchain.
        return false;
    };
    pinned(folder).is_some_and(|pinned| !is_of(&running, &pinned))
}

/// Whether a toolchain (`1.95.0-x86_64-unknown-linux-gnu`) is one of a channel (`1.95.0`).
fn is_of(toolchain: &str, channel: &str) -> bool {
    let rest = toolchain.strip_prefix(channel);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The channel that the nearest file in or above `folder` pins.
fn pinned(folder: &Path) -> Option<String> {
    folder.ancestors().find_map(|folder| {
        let read = |name| fs::read_to_string(folder.join(name)).ok();
        let text = read("rust-toolchain").or_else(|| read("rust-toolchain.toml"))?;
        channel(&text)
    })
}

/// The channel in such a file, which may be nothing but its name.
fn channel(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "channel").then_some(value)
    });
    let mut lines = text.lines();
    let value = match (value, lines.next(), lines.next()) {
        (Some(value), ..) => value,
        (None, Some(only), None) => only,
        _ => return None,
    };
    let value = value.split('#').next().unwrap_or_default();
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_pins_the_channel() {
        let root = crate::scratch::Scratch::new("toolchain");
        let guest = root.path().join("guests/one");
        fs::create_dir_all(&guest).expect("folders can be made");
        let write = |path: &str, text: &str| {
            fs::write(root.path().join(path), text).expect("a file can be written");
        };
        write(
            "rust-toolchain.toml",
            "[toolchain]\nchannel = \"1.95.0\" # tested\ntargets = []\n",
        );
        assert_eq!(pinned(&guest).as_deref(), Some("1.95.0"));
        write("guests/rust-toolchain", "nightly-2026-01-01\n");
        assert_eq!(pinned(&guest).as_deref(), Some("nightly-2026-01-01"));
    }

    #[test]
    fn a_file_without_a_channel_pins_none() {
        assert_eq!(channel("[toolchain]\ncomponents = [\"clippy\"]\n"), None);
        assert_eq!(channel(""), None);
    }

    #[test]
    fn a_toolchain_is_of_its_channel_whatever_the_host() {
        for (toolchain, channel, expected) in [
            ("1.95.0-x86_64-unknown-linux-gnu", "1.95.0", true),
            ("nightly", "nightly", true),
            ("nightly-x86_64-unknown-linux-gnu", "1.95.0", false),
            ("1.95.01", "1.95.0", false),
        ] {
            assert_eq!(is_of(toolchain, channel), expected, "{toolchain}");
        }
    }
}
