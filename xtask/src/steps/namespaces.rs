//! Whether network namespaces with TUN devices can be made here, and by what right.

use std::process::Command;

/// What a testbed does first, in a namespace of its own.
const TRIAL: &str = ": <>/dev/net/tun && ip link set lo up";

const NAMESPACE: [&str; 2] = ["--net", "sh"];
const USER: [&str; 2] = ["--user", "--map-root-user"];

/// How a process gets the right to make network namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Right {
    /// It has it.
    Own,
    /// In a user namespace, where it is root.
    UserNamespace,
}

impl Right {
    /// Options under which cargo runs tests with this right.
    pub(super) fn cargo_options(self) -> &'static [&'static str] {
        match self {
            Self::Own => &[],
            Self::UserNamespace => &[
                "--config",
                "target.'cfg(unix)'.runner = ['unshare', '--user', '--map-root-user']",
            ],
        }
    }
}

/// Tries it. An error is the reason why not, with a remedy.
pub(super) fn right_to_make() -> Result<Right, String> {
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

/// An error is what the trial printed, its first line.
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
