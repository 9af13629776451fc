//! Check of the right to make network namespaces with TUN devices on this machine.

use std::process::Command;

/// Shell commands that do what a testbed does first, run in a new namespace.
const TRIAL: &str = ": <>/dev/net/tun && ip link set lo up";

const NAMESPACE: [&str; 2] = ["--net", "sh"];
const USER: [&str; 2] = ["--user", "--map-root-user"];

/// Ways in which a process gets the right to make network namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// The process has the right already.
    Own,
    /// The process gets the right as root of a user namespace.
    UserNamespace,
}

impl Right {
    /// Returns the options with which cargo runs tests with this right.
    pub(crate) fn cargo_options(self) -> &'static [&'static str] {
        match self {
            Self::Own => &[],
            Self::UserNamespace => &[
                "--config",
                "target.'cfg(unix)'.runner = ['unshare', '--user', '--map-root-user']",
            ],
        }
    }
}

/// Finds out by trial how namespaces can be made. An error says why they cannot, with a remedy.
pub(crate) fn right_to_make() -> Result<Right, String> {
    if trial(&[]).is_ok() {
        return Ok(Right::Own);
    }
    match trial(&USER) {
        Ok(()) => Ok(Right::UserNamespace),
        Err(reason) => Err(format!(
            "no network namespace with a TUN device ({reason}): run as root, or allow user \
             namespaces and access to /dev/net/tun; needs util-linux and iproute2"
        )),
    }
}

/// Runs the trial; an error is the first line that it printed.
fn trial(options: &[&str]) -> Result<(), String> {
    let mut unshare = Command::new("unshare");
    unshare.args(options).args(NAMESPACE).args(["-c", TRIAL]);
    let output = unshare
        .output()
        .map_err(|error| format!("cannot run unshare: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    Err(printed
        .lines()
        .next()
        .unwrap_or("it says nothing")
        .to_owned())
}

#[cfg(test)]
mod tests;
