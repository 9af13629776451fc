//! Step that tests the archive of messages on SQLite and on a real PostgreSQL.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{ARCHIVE, Outcome, STORE_FAULTS, apt, cargo, selection};

/// Debian's package of the database.
const PACKAGE: &str = "postgresql";

/// Folder with a folder for each version of PostgreSQL, on Debian.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Installs PostgreSQL if it is missing, and runs the tests.
pub(super) fn run(root: &Path) -> Outcome {
    if let Err(reason) = install() {
        return Outcome::Skipped(reason);
    }
    match cargo(root, &selection::named(&ARCHIVE), &[]) {
        Outcome::Passed => cargo(root, &selection::modules(&[STORE_FAULTS]), &[]),
        failed => failed,
    }
}

/// Installs PostgreSQL if it is missing.
///
/// # Errors
/// The reason why it is missing, and the remedy.
pub(crate) fn install() -> Result<(), String> {
    if is_installed() {
        return Ok(());
    }
    apt::install(PACKAGE).map_err(|reason| {
        format!(
            "no PostgreSQL ({reason}): install the package {PACKAGE}, or put initdb on the PATH"
        )
    })
}

fn is_installed() -> bool {
    let on_path = Command::new("initdb").arg("--version").output();
    if on_path.is_ok_and(|output| output.status.success()) {
        return true;
    }
    let Ok(versions) = fs::read_dir(VERSIONS) else {
        return false;
    };
    versions
        .flatten()
        .any(|version| version.path().join("bin/initdb").is_file())
}
