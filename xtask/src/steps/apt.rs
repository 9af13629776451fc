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
    if apt_get(&args).is_ok() {
        return Ok(());
    }
    // A machine that was never asked for packages has no list of them, or an old one.
    apt_get(&["update"])?;
    apt_get(&args)
}

/// Runs `apt-get`, which asks nothing.
fn apt_get(args: &[&str]) -> Result<(), String> {
    let mut command = Command::new("apt-get");
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apt-get {}: {status}", args[0])),
        Err(error) => Err(format!("cannot run apt-get: {error}")),
    }
}
