//! Packages of the workspaces, as cargo describes them.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus};

use serde::Deserialize;

/// Folders of the workspaces of the repository, each with a lock file of its own; the first is the root.
pub(crate) const WORKSPACES: [&str; 4] = ["", "crates/edge/bindings", "crates/edge/python", "fuzz"];

/// The parts of `cargo metadata`'s output that are used here.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) dependencies: Vec<Dependency>,
    /// Programs, tests and examples, used by tests to look up the names in steps.
    #[cfg(test)]
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Registry; `None` for a package of the workspace.
    pub(crate) source: Option<String>,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    /// Whether a plain `cargo test` runs it.
    pub(crate) test: bool,
}

/// Reason why cargo's description is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetadataError {
    #[error("cannot run `cargo metadata`: {0}")]
    Start(io::Error),
    #[error("`cargo metadata` fails ({status}): {said}")]
    Failed { status: ExitStatus, said: String },
    #[error("`cargo metadata` is not understood: {0}")]
    Json(serde_json::Error),
}

/// Returns cargo's description of the workspace at `root`, without third-party dependencies.
pub(crate) fn metadata(root: &Path) -> Result<Metadata, MetadataError> {
    let args = ["metadata", "--no-deps", "--format-version", "1"];
    let output = cargo_command(root, &args)
        .output()
        .map_err(MetadataError::Start)?;
    if !output.status.success() {
        return Err(MetadataError::Failed {
            status: output.status,
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    serde_json::from_slice(&output.stdout).map_err(MetadataError::Json)
}

/// Returns a cargo command in the workspace at `root`, ready to be run.
pub(crate) fn cargo_command(root: &Path, args: &[&str]) -> process::Command {
    let mut command = in_workspace("cargo", root);
    command.args(args);
    command
}

/// Returns a command in the workspace at `root`, without cargo's variables. `cargo run` describes xtask's own package
/// in the environment. Build scripts that watch these variables would see a change after a plain `cargo test`, and
/// cause recompilation.
pub(crate) fn in_workspace(program: &str, root: &Path) -> process::Command {
    let mut command = process::Command::new(program);
    command.current_dir(root);
    for (name, _) in env::vars_os() {
        let describes_a_package =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if name.to_str().is_some_and(describes_a_package) {
            command.env_remove(name);
        }
    }
    command
}
