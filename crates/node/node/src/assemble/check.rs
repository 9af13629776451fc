//! Check of a configuration against its files, before anything is created or any port opened.

use undertone_rln::IdentityFile;

use super::{AssembleError, files, relay_config};
use crate::config::NodeConfig;
use undertone_network::driver::StartError;

/// Reads the files that the configuration names, without changing anything. A start begins with the same check, so
/// an error found here would also end the start.
///
/// # Errors
/// [`AssembleError`] names the key or file and the remedy.
pub fn check(config: &NodeConfig) -> Result<(), AssembleError> {
    // Checks a router configuration set by the program; one built from keys was checked when they were read.
    relay_config(config)
        .gossip
        .validate()
        .map_err(StartError::Config)?;
    let key_file = &config.node_key_file;
    if !files::find_node_key(key_file)? && *key_file != config.data_dir.join("node-key") {
        return Err(AssembleError::MissingFile {
            key: "node-key-file",
            path: key_file.clone(),
            remedy: "check the path; or leave the key out once: the node then makes node-key in data-dir, which can be \
                     moved there",
        });
    }
    if let Some(rln) = &config.rln {
        let path = &rln.identity_file;
        if path.exists() {
            IdentityFile::read(path)?;
        } else if *path != config.data_dir.join("rln-identity.json") {
            return Err(AssembleError::MissingFile {
                key: "rln-identity-file",
                path: path.clone(),
                remedy: "check the path, make one with `undertone rln keygen`, or leave the key out for a node that \
                         publishes nothing",
            });
        }
    }
    if let Some(certificate) = &config.websocket_certificate {
        certificate.read().map_err(StartError::Certificate)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests/check.rs"]
mod tests;
