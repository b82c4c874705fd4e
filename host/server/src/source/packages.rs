//! Packages that a Python tool imports: resolved and fetched when the tool is saved, wheels in pure
//! Python alone, nothing of them executed; kept in folders named after what is in them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use bulkhead_domain::Digest;
use bulkhead_policy::{FolderRule, Limits};
use bulkhead_sandbox::{Authority, Call, Environment, Job, Language, Source, SourceCall};
use bulkhead_store::NewPackageSet;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{app::App, contract::Refusal};

/// Where a call finds its packages.
pub(crate) const GUEST_FOLDER: &str = "/packages";
/// The Python that runs them: wheels are chosen for it.
const PYTHON_VERSION: &str = "3.14";
/// Fetching may need many requests to a slow index.
const FETCH_TIMEOUT: Duration = Duration::from_secs(120);
/// Requirements of one tool.
const MAX_REQUIREMENTS: usize = 100;
/// Bytes of a set on disk.
const MAX_BYTES: u64 = 256 << 20;
/// Files of a set.
const MAX_FILES: usize = 20_000;
/// Lines of the installer's own words in a refusal.
const MAX_LINES: usize = 6;

/// Writes what the modules of a set compile to beside them, in the sandbox: a call then reads it.
const COMPILE: &str = r#"
import importlib.util, os
from importlib import _bootstrap_external as external
for folder, _, names in os.walk("/packages"):
    for name in names:
        if not name.endswith(".py"):
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                source = file.read()
            code = compile(source, path, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError, RecursionError):
            continue
        data = external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)
        target = importlib.util.cache_from_source(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
"#;

/// The sets on disk.
pub(crate) struct Packages {
    root: PathBuf,
}

impl Packages {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self {
            root: data_dir.join("packages"),
        }
    }

    /// The folder of a set.
    pub(crate) fn folder(&self, set: &Digest) -> PathBuf {
        self.root.join(set.hex())
    }
}

impl App {
    /// Resolves and fetches `pip_requirements`; none where there are none.
    pub(crate) async fn fetch_packages(
        &self,
        requirements: Option<&Value>,
    ) -> Result<Option<Digest>, Refusal> {
        let requirements = specifiers(requirements)?;
        if requirements.is_empty() {
            return Ok(None);
        }
        let failed =
            |error: std::io::Error| Refusal::from(crate::http::error::Rejection::host(&error));
        let root = self.packages.root.clone();
        let staged = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&root)?;
            tempfile::Builder::new().prefix("new-").tempdir_in(root)
        });
        let staged = staged
            .await
            .map_err(std::io::Error::other)
            .and_then(|made| made)
            .map_err(failed)?;
        let target = staged.path().join("packages");
        install(&requirements, &target).await?;
        let folder = target.clone();
        let found = tokio::task::spawn_blocking(move || contents(&folder));
        let found = found
            .await
            .map_err(std::io::Error::other)
            .and_then(|found| found)
            .map_err(failed)?;
        if found.bytes > MAX_BYTES || found.files > MAX_FILES {
            return Err(Refusal::bad_request(format!(
                "pip_requirements take {} bytes in {} files, more than the {MAX_BYTES} bytes in {MAX_FILES} files that are allowed",
                found.bytes, found.files
            )));
        }
        if let Some(native) = found.native {
            return Err(Refusal::bad_request(format!(
                "pip_requirements: {native} is native code, which the sandbox does not run; choose packages in pure Python"
            )));
        }
        let set = NewPackageSet {
            requirements: json!(requirements),
            packages: json!({ "content": found.content.to_string(), "versions": found.packages }),
            size: found.bytes,
        };
        let digest = set.digest();
        let final_folder = self.packages.folder(&digest);
        if !tokio::fs::try_exists(&final_folder).await.map_err(failed)? {
            self.compile_packages(&target).await?;
            match tokio::fs::rename(&target, &final_folder).await {
                Ok(()) => {}
                // Another request was first with the same set.
                Err(_) if final_folder.is_dir() => {}
                Err(error) => return Err(failed(error)),
            }
        }
        self.store.put_package_set(set).await?;
        Ok(Some(digest))
    }

    async fn compile_packages(&self, folder: &Path) -> Result<(), Refusal> {
        let runtime = self
            .runtimes
            .get(&self.sandbox, Language::Python)
            .await?
            .clone();
        let granted = FolderRule {
            host: folder.display().to_string(),
            guest: GUEST_FOLDER.to_owned(),
            write: true,
            quota_bytes: Some(MAX_BYTES),
        };
        let capabilities = bulkhead_policy::Capabilities {
            folders: vec![granted],
            ..Default::default()
        };
        let authority =
            Authority::for_source(&capabilities, None, Vec::new(), "packages", Vec::new());
        let limits = Limits {
            fuel: self.sandbox.settings().ceiling.fuel,
            folder_bytes: MAX_BYTES,
            ..super::run::default_limits()
        };
        let call = SourceCall {
            source: Source {
                language: Language::Python,
                text: COMPILE.into(),
                function: None,
            },
            job: Job::Run,
            environment: Environment::default(),
            call: Call::new("packages", "{}")
                .with_authority(authority)
                .with_limits(limits),
        };
        let report = self.sandbox.call_source(&runtime, call).await.report;
        // Without it a call compiles what it imports: slower, and as good.
        if let Err(failure) = report.result {
            tracing::warn!(%failure, "packages were not compiled ahead");
        }
        Ok(())
    }
}

/// `name` or `name==version` of each requirement.
fn specifiers(requirements: Option<&Value>) -> Result<Vec<String>, Refusal> {
    let list = requirements
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    if list.len() > MAX_REQUIREMENTS {
        return Err(Refusal::bad_request(format!(
            "a tool has at most {MAX_REQUIREMENTS} pip_requirements"
        )));
    }
    let mut specifiers = Vec::new();
    for requirement in list {
        let name = requirement["name"].as_str().unwrap_or_default().trim();
        let version = requirement["version"]
            .as_str()
            .map(str::trim)
            .filter(|text| !text.is_empty());
        let is_name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._-[],".contains(c))
        };
        let is_version = |text: &str| {
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || "._+!*-".contains(c))
        };
        if !is_name(name) || version.is_some_and(|version| !is_version(version)) {
            return Err(Refusal::bad_request(format!(
                "pip_requirements: {requirement} is no name and version of a package; addresses, paths and options are not taken"
            )));
        }
        specifiers
            .push(version.map_or_else(|| name.to_owned(), |version| format!("{name}=={version}")));
    }
    specifiers.sort();
    specifiers.dedup();
    Ok(specifiers)
}

/// Unpacks wheels into `target`. Nothing but wheels for any platform is taken, so that nothing of
/// a package is executed.
async fn install(requirements: &[String], target: &Path) -> Result<(), Refusal> {
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ])
    .args([
        "--only-binary",
        ":all:",
        "--no-compile",
        "--implementation",
        "py",
        "--abi",
        "none",
    ])
    .args([
        "--platform",
        "any",
        "--python-version",
        PYTHON_VERSION,
        "--target",
    ])
    .arg(target)
    .arg("--")
    .args(requirements)
    .stdin(Stdio::null())
    .kill_on_drop(true);
    let installed = tokio::time::timeout(FETCH_TIMEOUT, pip.output()).await;
    let output = match installed {
        Err(_) => {
            let seconds = FETCH_TIMEOUT.as_secs();
            return Err(Refusal::bad_request(format!(
                "pip_requirements could not be fetched within {seconds} s; try again"
            )));
        }
        Ok(Err(error)) => {
            return Err(Refusal::bad_request(format!(
                "pip_requirements need python3 with pip on the server, which could not be started ({error}): apt-get install python3-pip"
            )));
        }
        Ok(Ok(output)) => output,
    };
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if let Some(name) = said
        .lines()
        .find_map(|line| line.split("No matching distribution found for ").nth(1))
    {
        return Err(Refusal::bad_request(format!(
            "pip_requirements: there is no wheel of {} in pure Python for Python {PYTHON_VERSION}: it does not exist in that version, or needs native code, which the sandbox does not run",
            name.trim()
        )));
    }
    let lines: Vec<_> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_LINES)
        .collect();
    Err(Refusal::bad_request(format!(
        "pip_requirements could not be resolved: {}",
        lines.join(" / ")
    )))
}

struct Contents {
    content: Digest,
    bytes: u64,
    files: usize,
    /// Names and versions.
    packages: BTreeMap<String, String>,
    /// A file that is no Python.
    native: Option<String>,
}

/// Reads a set: its content is the digest of all paths and bytes.
fn contents(folder: &Path) -> std::io::Result<Contents> {
    let mut paths = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                paths.push(entry.path());
            } else {
                // A link could lead out of the folder.
                std::fs::remove_file(entry.path())?;
            }
        }
    }
    paths.sort();
    let mut found = Contents {
        content: Digest::of(b""),
        bytes: 0,
        files: paths.len(),
        packages: BTreeMap::new(),
        native: None,
    };
    let mut list = String::new();
    for path in &paths {
        let name = path
            .strip_prefix(folder)
            .unwrap_or(path)
            .display()
            .to_string();
        let bytes = std::fs::read(path)?;
        found.bytes += bytes.len() as u64;
        if [".so", ".pyd", ".dll", ".dylib"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            found.native.get_or_insert_with(|| name.clone());
        }
        if let Some((package, version)) = name
            .split_once(".dist-info/")
            .and_then(|(head, _)| head.rsplit_once('-'))
        {
            found
                .packages
                .insert(package.to_owned(), version.to_owned());
        }
        list.push_str(&format!("{name} {}\n", Digest::of(&bytes)));
    }
    found.content = Digest::of(list.as_bytes());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_names_and_versions_and_nothing_else() {
        let found = specifiers(Some(
            &json!([{"name": "b"}, {"name": "a", "version": "1.0"}, {"name": "b"}]),
        ));
        assert_eq!(found.expect("valid"), ["a==1.0", "b"]);
        assert!(specifiers(None).expect("none").is_empty());
        for (name, version) in [
            ("--index-url=http://x", ""),
            ("/etc/passwd", ""),
            ("a @ https://x/a.whl", ""),
            ("git+https://x", ""),
            ("a;python_version<'3'", ""),
            ("a", "1 --pre"),
        ] {
            let list = json!([{"name": name, "version": version}]);
            assert!(specifiers(Some(&list)).is_err(), "{name}");
        }
    }
}
