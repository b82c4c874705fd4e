//! The environment of the inner cargo.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::toolchain;

/// What an outer cargo, clippy, a coverage tool or a person's shell sets for the host's build.
const FOR_THE_HOST: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
    "DEBUG",
    "HOST",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "TARGET",
];

/// Beginnings of more such names.
const FOR_THE_HOST_PREFIXES: &[&str] = &[
    "CARGO_BIN_",
    "CARGO_BUILD_",
    "CARGO_CFG_",
    "CARGO_FEATURE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PRIMARY_",
    "CARGO_PROFILE_",
    "DEP_",
];

/// The cargo for the guests in `folder`: the one that runs this build, that of their own toolchain
/// where they pin another, or the one on the path; without the host's flags. What finds registries
/// and proxies stays, and so does the jobserver: inner and outer build share the processors.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(program(folder));
    for (name, _) in env::vars_os() {
        if is_for_the_host(&name) {
            command.env_remove(&name);
        }
    }
    toolchain::choose(&mut command, folder);
    command.current_dir(folder);
    command
}

pub(crate) fn program(folder: &Path) -> OsString {
    toolchain::program("CARGO", "cargo", folder)
}

fn is_for_the_host(name: &OsString) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    FOR_THE_HOST.contains(&name)
        || FOR_THE_HOST_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// The target directory around a build script's `OUT_DIR`. Cargo tags it; the number of folders
/// between the two is cargo's own business.
pub fn target_directory(out_dir: &Path) -> PathBuf {
    let tagged = out_dir
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file());
    tagged.unwrap_or(out_dir).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{is_for_the_host, target_directory};

    #[test]
    fn flags_of_the_host_go_and_the_way_to_the_registry_stays() {
        for name in [
            "RUSTFLAGS",
            "CARGO_CFG_TARGET_OS",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_TARGET_DIR",
            "DEP_Z_ROOT",
        ] {
            assert!(is_for_the_host(&name.into()), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_MAKEFLAGS",
            "CARGO_NET_OFFLINE",
            "HTTPS_PROXY",
            "PATH",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(!is_for_the_host(&name.into()), "{name}");
        }
    }

    #[test]
    fn the_target_directory_is_the_tagged_one() {
        let root = crate::scratch::Scratch::new("environment");
        let out = root.path().join("debug/build/tools-0123/out");
        std::fs::create_dir_all(&out).expect("folders can be made");
        assert_eq!(target_directory(&out), out);
        std::fs::write(root.path().join("CACHEDIR.TAG"), "").expect("a file can be written");
        assert_eq!(target_directory(&out), root.path());
    }
}
