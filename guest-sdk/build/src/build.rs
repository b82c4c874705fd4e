//! One run of cargo.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::{BuildError, environment, messages, reproducible, target};

/// What to build, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The `Cargo.toml` of a guest, or of the workspace that holds it.
    pub manifest_path: PathBuf,
    /// Packages of the workspace; empty for the manifest's own.
    pub packages: Vec<String>,
    /// Where cargo builds; none for cargo's own choice.
    pub target_dir: Option<PathBuf>,
    /// The cargo profile.
    pub profile: String,
    /// Whether cargo says what it does, or only what is wrong.
    pub quiet: bool,
}

/// A component that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The package.
    pub package: String,
    /// The component.
    pub path: PathBuf,
}

impl Build {
    /// A build of one guest with the profile `release`, in the guest's own target directory.
    pub fn new(manifest_path: impl Into<PathBuf>) -> Self {
        Self {
            manifest_path: manifest_path.into(),
            packages: Vec::new(),
            target_dir: None,
            profile: "release".to_owned(),
            quiet: false,
        }
    }

    /// Runs cargo, whose messages go to stderr, and gives the components, one for each package.
    pub fn run(&self) -> Result<Vec<Artifact>, BuildError> {
        let manifest =
            fs::canonicalize(&self.manifest_path).map_err(BuildError::file(&self.manifest_path))?;
        let folder = manifest.parent().unwrap_or(Path::new("/"));
        target::ensure(folder)?;

        let output = self
            .command(&manifest, folder)
            .output()
            .map_err(target::start(environment::program(folder)))?;
        if !output.status.success() {
            return Err(BuildError::Failed { what: self.what() });
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        let components = stdout.lines().filter_map(messages::component);
        // A dependency that is a guest too makes a component beside the one that is wanted.
        let wanted = components.filter(|component| {
            if self.packages.is_empty() {
                same_file(&component.manifest, &manifest)
            } else {
                self.packages.contains(&component.package)
            }
        });
        let artifacts = wanted.map(|component| Artifact {
            package: component.package,
            path: component.path,
        });
        self.complete(artifacts.collect())
    }

    fn command(&self, manifest: &Path, folder: &Path) -> std::process::Command {
        let mut command = environment::cargo(folder);
        command.stderr(Stdio::inherit());
        command.args([
            "build",
            "--lib",
            "--target",
            target::TRIPLE,
            "--message-format=json-render-diagnostics",
        ]);
        command
            .args(["--profile", &self.profile])
            .arg("--manifest-path")
            .arg(manifest);
        for package in &self.packages {
            command.args(["--package", package]);
        }
        if let Some(target_dir) = &self.target_dir {
            command.arg("--target-dir").arg(target_dir);
        }
        if self.quiet {
            command.arg("--quiet");
        }
        let workspace = locked_workspace(folder);
        let root = workspace.unwrap_or(folder);
        command.args(["--config", &reproducible::remapping(root)]);
        // What was tested is what is built: a lock file is kept as it is.
        if workspace.is_some() {
            command.arg("--locked");
        }
        command
    }

    /// The artifacts in the order of the packages, if none is missing.
    fn complete(&self, mut artifacts: Vec<Artifact>) -> Result<Vec<Artifact>, BuildError> {
        if artifacts.is_empty() && self.packages.is_empty() {
            return Err(BuildError::NoComponent {
                package: self.what(),
            });
        }
        if let Some(package) = self.packages.iter().find(|package| {
            !artifacts
                .iter()
                .any(|artifact| artifact.package == **package)
        }) {
            return Err(BuildError::NoComponent {
                package: package.clone(),
            });
        }
        artifacts.sort_by_key(|artifact| {
            self.packages
                .iter()
                .position(|package| *package == artifact.package)
        });
        Ok(artifacts)
    }

    fn what(&self) -> String {
        if self.packages.is_empty() {
            self.manifest_path.display().to_string()
        } else {
            self.packages.join(", ")
        }
    }
}

impl Artifact {
    /// The sources of the component, from the list that cargo writes beside it: those of the
    /// guest and of what it uses by path.
    pub fn sources(&self) -> Result<Vec<PathBuf>, BuildError> {
        let list = self.path.with_extension("d");
        let text = fs::read_to_string(&list).map_err(BuildError::file(&list))?;
        let sources = text
            .lines()
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(_, sources)| paths(sources));
        Ok(sources.collect())
    }
}

/// The paths of a make rule: a space ends a path, `\ ` is a space in it.
fn paths(rule: &str) -> Vec<PathBuf> {
    let mut paths = vec![String::new()];
    let mut characters = rule.chars().peekable();
    while let Some(character) = characters.next() {
        let last = paths.len() - 1;
        match character {
            '\\' if characters.next_if_eq(&' ').is_some() => paths[last].push(' '),
            ' ' => paths.push(String::new()),
            character => paths[last].push(character),
        }
    }
    paths
        .into_iter()
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect()
}

fn same_file(left: &Path, right: &Path) -> bool {
    fs::canonicalize(left).is_ok_and(|left| left == right)
}

/// A variable that cargo sets for build scripts.
pub(crate) fn build_script_variable(variable: &'static str) -> Result<PathBuf, BuildError> {
    env::var_os(variable)
        .map(PathBuf::from)
        .ok_or(BuildError::NoBuildScript { variable })
}

/// The workspace of the crate in `folder`, if it has a lock file. A crate that says `[workspace]`
/// is its own; the lock file of a folder around it is somebody else's.
fn locked_workspace(folder: &Path) -> Option<&Path> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let own = manifest.lines().any(|line| line.trim() == "[workspace]");
    let folders = if own { 1 } else { usize::MAX };
    folder
        .ancestors()
        .take(folders)
        .find(|folder| folder.join("Cargo.lock").is_file())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Artifact, Build, paths};
    use crate::BuildError;

    #[test]
    fn a_path_in_a_rule_may_hold_spaces() {
        assert_eq!(
            paths(r"/a/b.rs /c\ d/e.rs"),
            [PathBuf::from("/a/b.rs"), PathBuf::from("/c d/e.rs")]
        );
    }

    #[test]
    fn a_package_without_a_component_is_an_error_that_says_what_it_lacks() {
        let build = Build {
            packages: vec!["b".to_owned(), "a".to_owned()],
            ..Build::new("Cargo.toml")
        };
        let artifact = |package: &str| Artifact {
            package: package.to_owned(),
            path: PathBuf::new(),
        };
        let missing = build
            .complete(vec![artifact("a")])
            .expect_err("b is missing");
        assert!(matches!(&missing, BuildError::NoComponent { package } if package == "b"));
        assert!(missing.to_string().contains("cdylib"));
        let both = build
            .complete(vec![artifact("a"), artifact("b")])
            .expect("both are there");
        assert_eq!(both, [artifact("b"), artifact("a")]);
    }

    #[test]
    fn a_manifest_that_is_not_there_is_named() {
        let error = Build::new("/no/such/Cargo.toml")
            .run()
            .expect_err("there is no such file");
        assert!(error.to_string().starts_with("/no/such/Cargo.toml: "));
    }
}
