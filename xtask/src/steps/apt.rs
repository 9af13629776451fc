//! Installation of Debian's packages that a step needs.

use std::process::Command;

/// Installs a package, which only root may.
///
/// # Errors
/// The reason why it cannot be installed.
pub(super) fn install(package: &str) -> Result<(), String> {
    let is_root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    if !is_root {
        return Err("only root can install it".to_owned());
    }
    let args = ["install", "--yes", "--no-install-recommends", package];
    let status = Command::new("apt-get").args(args).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apt-get install: {status}; try apt-get update")),
        Err(error) => Err(format!("cannot run apt-get: {error}")),
    }
}
