//! Network namespace that loses packets, in which cargo runs a test.

use std::path::Path;
use std::process::Command;

use super::apt;

#[cfg(test)]
mod tests;

/// Debian's package of the packet filter.
const PACKAGE: &str = "nftables";

/// Rules of the packet filter, from the workspace.
const RULES: &str = "interop/tests/light/loss.nft";

/// Ways to get a namespace: with the right that the process has, or as root of a user namespace.
const RIGHTS: [&[&str]; 2] = [&[], &["--user", "--map-root-user"]];

/// Returns the options with which cargo runs tests in a namespace whose loopback loses a percentage of the packets, and
/// installs what that needs.
///
/// # Errors
/// The reason why packets cannot be lost on this machine, with a remedy.
pub(crate) fn cargo_options(root: &Path, percent: &str) -> Result<Vec<String>, String> {
    let version = Command::new("nft").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        apt::install(PACKAGE).map_err(|reason| {
            format!("no program nft ({reason}): install the package {PACKAGE}")
        })?;
    }
    let script = script(root, percent);
    let mut reason = String::new();
    for right in RIGHTS {
        let mut trial = Command::new("unshare");
        trial
            .args(right)
            .args(["--net", "sh", "-c", &script, "true"]);
        match trial.output() {
            Ok(output) if output.status.success() => return Ok(options(right, &script)),
            Ok(output) => reason = String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => return Err(format!("cannot run unshare: {error}; install util-linux")),
        }
    }
    Err(format!(
        "packets cannot be lost here ({reason}): run as root or allow user namespaces; needs iproute2, nftables, and a \
         kernel with nf_tables and numgen"
    ))
}

/// Returns the script that prepares the namespace and becomes the program of its arguments.
fn script(root: &Path, percent: &str) -> String {
    let rules = root.join(RULES);
    format!(
        r#"ip link set lo mtu 1500 up && nft --define loss={percent} --file "{}" && exec "$0" "$@""#,
        rules.display()
    )
}

fn options(right: &[&str], script: &str) -> Vec<String> {
    let mut words = vec!["unshare"];
    words.extend(right);
    words.extend(["--net", "sh", "-c", script]);
    let words: Vec<_> = words.iter().map(|word| format!("'''{word}'''")).collect();
    let runner = format!("target.'cfg(unix)'.runner = [{}]", words.join(", "));
    vec!["--config".to_owned(), runner]
}
