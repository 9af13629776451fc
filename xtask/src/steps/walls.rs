//! Programs for the routers of the campaign `nat`.

use std::process::Command;

use super::apt;

/// Programs, the option with which each shows that it is there, and their packages of Debian.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("nft", "--version", "nftables"),
    ("miniupnpd", "--version", "miniupnpd-nftables"),
    ("curl", "--version", "curl"),
];

/// Installs what is missing.
///
/// # Errors
/// The reason why a program cannot be had, with a remedy.
pub(crate) fn install() -> Result<(), String> {
    for (program, option, package) in PROGRAMS {
        // Some end with a status of their own when asked for their version; being there is enough.
        if Command::new(program).arg(option).output().is_err() {
            apt::install(package).map_err(|reason| {
                format!("no program {program} ({reason}): install the package {package}")
            })?;
        }
    }
    Ok(())
}
