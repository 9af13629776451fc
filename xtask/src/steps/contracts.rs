//! The membership contract: installs its packages, compares it with what is checked in, tests it and
//! those who follow it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{Outcome, cargo, ended, selection};

#[cfg(test)]
mod tests;

/// Inside `node_modules`: the lock file that it was installed from.
const STAMP: &str = "node_modules/.undertone-package-lock.json";
const LOCK: &str = "package-lock.json";

/// Tests of the contract.
pub(super) const CONTRACT: &[&str] = &["contract"];

/// The other tests that need a chain; they are ignored everywhere else.
const FOLLOWERS: [&str; 3] = ["chain", "chain_cli", "demo"];

/// Runs the step; `npm` is known to be there.
pub(super) fn run(root: &Path, npm: &str) -> Outcome {
    let folder = root.join("contracts");
    match is_installed(&folder) {
        Ok(true) => {}
        Ok(false) => {
            // The compiler and the chain are ready as they come: no script of a package is run.
            let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
            let installed = program(npm, &install, &folder);
            if installed != Outcome::Passed {
                return installed;
            }
            if let Err(error) = fs::copy(folder.join(LOCK), folder.join(STAMP)) {
                return Outcome::Failed(format!("contracts/{STAMP}: {error}"));
            }
        }
        Err(error) => return Outcome::Failed(format!("contracts/{LOCK}: {error}")),
    }
    match program(npm, &["run", "--silent", "check"], &folder) {
        Outcome::Passed => {}
        stale => return stale,
    }
    match cargo(root, &selection::named(CONTRACT), &[]) {
        Outcome::Passed => {}
        failed => return failed,
    }
    let mut followers = selection::named(&FOLLOWERS);
    followers.extend(["--", "--ignored"].map(str::to_owned));
    cargo(root, &followers, &[])
}

/// Whether `node_modules` is what the lock file asks for.
fn is_installed(folder: &Path) -> io::Result<bool> {
    let wanted = fs::read(folder.join(LOCK))?;
    match fs::read(folder.join(STAMP)) {
        Ok(found) => Ok(found == wanted),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn program(name: &str, args: &[&str], folder: &Path) -> Outcome {
    ended(Command::new(name).args(args).current_dir(folder).status())
}
