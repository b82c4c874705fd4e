//! Compiles every guest of this folder, and makes the Python runtime where there is a python3.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context as _, bail};

/// Set where the Python runtime must be there, such as in continuous integration.
const REQUIRED: &str = "BULKHEAD_REQUIRE_PYTHON";

fn main() -> anyhow::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").context("cargo sets OUT_DIR")?);
    let made = thread::scope(|scope| {
        let python = scope.spawn(|| make_python(&out));
        bulkhead_guest_build::embed("tool-", &["javascript"])?;
        let made = python.join();
        anyhow::Ok(made.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    if let (Err(reason), true) = (&made, env::var_os(REQUIRED).is_some()) {
        bail!("the Python runtime was not made: {reason:#}");
    }
    let code = match made {
        Ok(component) => format!(
            "/// The Python runtime.\npub const PYTHON: Result<&[u8], &str> = Ok({});\n",
            bulkhead_guest_build::embed::bytes_of(&component)
        ),
        Err(reason) => {
            let reason = format!("{reason:#}");
            let summary = reason.lines().next().unwrap_or_default();
            instruct(&format!("warning=without the Python runtime: {summary}"));
            format!(
                "/// Why there is no Python runtime.\npub const PYTHON: Result<&[u8], &str> = Err({reason:?});\n"
            )
        }
    };
    fs::write(out.join("python.rs"), code).context("OUT_DIR can't be written")
}

/// Runs `python/make.py`, which caches what it made by the content of its inputs.
fn make_python(out: &Path) -> anyhow::Result<PathBuf> {
    for input in ["python", "../guest-sdk/wit"] {
        instruct(&format!("rerun-if-changed={input}"));
    }
    instruct(&format!("rerun-if-env-changed={REQUIRED}"));
    let component = out.join("python.wasm");
    let work = bulkhead_guest_build::target_directory(out).join("python");
    let mut make = Command::new("python3");
    make.arg("python/make.py")
        .arg("--out")
        .arg(&component)
        .arg("--work")
        .arg(work)
        .args(["--wit", "../guest-sdk/wit"]);
    let made = make.output().context(
        "there is no python3; install Python 3.9 or newer and build again: apt-get install python3-venv",
    )?;
    if !made.status.success() {
        bail!("{}", String::from_utf8_lossy(&made.stderr).trim());
    }
    Ok(component)
}

/// Tells cargo something.
#[allow(
    clippy::print_stdout,
    reason = "a build script talks to cargo on stdout"
)]
fn instruct(what: &str) {
    println!("cargo::{what}");
}
