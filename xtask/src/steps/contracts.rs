//! Step for the membership contract: installs its packages, compares the build with the checked-in
//! artefacts, and tests the contract and the code that follows it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{Outcome, TEST_THREADS, cargo, ended, selection, test_threads};

#[cfg(test)]
mod tests;

/// Copy of the lock file that `node_modules` was installed from.
const STAMP: &str = "node_modules/.undertone-package-lock.json";
const LOCK: &str = "package-lock.json";

/// Integration tests of the contract.
pub(super) const CONTRACT: &[&str] = &["contract"];

/// Programs with other integration tests that need a chain, which all other steps ignore, and the modules of these tests.
const FOLLOWERS: [&str; 2] = [selection::IT, "guides"];
const FOLLOWING: [&str; 5] = [
    "chain::",
    "chain_cli::",
    "demo::",
    "deployed::",
    "first_steps::",
];

/// Runs the step, for which `npm` must be available.
pub(super) fn run(root: &Path, npm: &str) -> Outcome {
    match install(root, npm) {
        Outcome::Passed => {}
        failed => return failed,
    }
    match program(npm, &["run", "--silent", "check"], &root.join("contracts")) {
        Outcome::Passed => {}
        stale => return stale,
    }
    match cargo(root, &selection::named(CONTRACT), &[]) {
        Outcome::Passed => {}
        failed => return failed,
    }
    let mut followers = selection::named(&FOLLOWERS);
    followers.extend(["--", "--ignored"].map(str::to_owned));
    followers.extend(FOLLOWING.map(str::to_owned));
    cargo(root, &followers, &[(TEST_THREADS, &test_threads())])
}

/// Installs compiler and chain, unless they are installed as the lock file has them.
pub(crate) fn install(root: &Path, npm: &str) -> Outcome {
    let folder = root.join("contracts");
    match is_installed(&folder) {
        Ok(true) => Outcome::Passed,
        Ok(false) => {
            // Compiler and chain need no installation scripts, so none are run.
            let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
            let installed = program(npm, &install, &folder);
            if installed != Outcome::Passed {
                return installed;
            }
            match fs::copy(folder.join(LOCK), folder.join(STAMP)) {
                Ok(_) => Outcome::Passed,
                Err(error) => Outcome::Failed(format!("contracts/{STAMP}: {error}")),
            }
        }
        Err(error) => Outcome::Failed(format!("contracts/{LOCK}: {error}")),
    }
}

/// Whether `node_modules` was installed from the present lock file.
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
