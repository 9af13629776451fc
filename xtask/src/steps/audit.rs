//! Step that audits dependencies: their sources, licences and known advisories.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::Outcome;
use crate::processor::at_lowest_priority;

#[cfg(test)]
mod tests;

/// Version of `cargo-deny` that the configuration in `deny.toml` is written for.
const VERSION: &str = "0.20.2";
/// Arguments of cargo that install it, without optimisation, which would take minutes and save only seconds.
const INSTALL: [&str; 7] = [
    "install",
    "cargo-deny",
    "--version",
    VERSION,
    "--locked",
    "--debug",
    "--quiet",
];
/// Folder in the workspace for programs that steps need, such as `cargo-deny`.
pub(super) const TOOLS: &str = "target/tools";

/// Installation of `cargo-deny` beside the steps before the audit. These compile, and leave a processor idle at times.
pub(crate) struct Installation(Option<Child>);

impl Installation {
    /// Begins the installation, if the program is missing and `nice` can run it at the lowest priority.
    pub(crate) fn begin(root: &Path) -> Self {
        if installed(root).is_some() {
            return Self(None);
        }
        let mut install = at_lowest_priority(cargo());
        install.args(INSTALL).arg("--root").arg(root.join(TOOLS));
        Self(install.stdin(Stdio::null()).spawn().ok())
    }

    /// Waits for the installation. If it failed, [`run`] tries again, and says why.
    pub(crate) fn end(self) {
        if let Some(mut child) = self.0 {
            let _ = child.wait();
        }
    }
}

/// Runs the audit of all dependencies.
pub(super) fn run(root: &Path) -> Outcome {
    let program = match program(root) {
        Ok(program) => program,
        Err(reason) => return Outcome::Skipped(reason),
    };
    match check(root, &program, &["bans", "licenses", "sources"]) {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            return Outcome::Failed("a dependency breaks a rule of deny.toml".to_owned());
        }
        Err(error) => return Outcome::Failed(format!("cannot run cargo-deny: {error}")),
    }
    match check(root, &program, &["advisories"]) {
        Ok(output) if output.status.success() => Outcome::Passed,
        Ok(output) => verdict(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => Outcome::Failed(format!("cannot run cargo-deny: {error}")),
    }
}

/// Returns the outcome of a failed check of advisories: a failure for an advisory, but not for an
/// unreachable database.
fn verdict(said: &str) -> Outcome {
    if said.contains("failed to fetch advisory database") {
        let why = "advisories were not checked: the database cannot be fetched from here";
        eprintln!("{why}; run `cargo deny check advisories` where it can");
        return Outcome::PassedBut(why.to_owned());
    }
    eprint!("{said}");
    Outcome::Failed("an advisory concerns a dependency".to_owned())
}

fn check(root: &Path, program: &Path, what: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(program);
    command
        .current_dir(root)
        .arg("--locked")
        .arg("check")
        .args(what);
    command.stdin(Stdio::null()).output()
}

/// Returns the path of `cargo-deny`, which is installed if necessary. An error says why it is not
/// available.
fn program(root: &Path) -> Result<PathBuf, String> {
    if let Some(program) = installed(root) {
        return Ok(program);
    }
    let mut install = Command::new(cargo());
    install.args(INSTALL).arg("--root").arg(root.join(TOOLS));
    let status = install
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() {
        return Ok(in_tools(root));
    }
    Err(format!(
        "`cargo install cargo-deny --version {VERSION}` fails ({status}): install it by hand"
    ))
}

/// Returns the path of `cargo-deny`, if it is installed.
fn installed(root: &Path) -> Option<PathBuf> {
    let candidates = [in_tools(root), PathBuf::from("cargo-deny")];
    candidates.into_iter().find(|candidate| {
        let version = Command::new(candidate).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    })
}

fn in_tools(root: &Path) -> PathBuf {
    root.join(TOOLS).join("bin/cargo-deny")
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"))
}
