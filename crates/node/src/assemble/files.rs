//! The node's secret key on disk.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use libp2p::identity::Keypair;

use super::AssembleError;

/// Longest key file that is read, bytes; a protobuf-encoded key has fewer than 100.
const KEY_BYTES_MAX: u64 = 4096;

/// The key in the file; a new one, written there, when there is no file yet.
pub(super) fn node_key(path: &Path) -> Result<Keypair, AssembleError> {
    let fail = |reason: String| AssembleError::NodeKey {
        path: path.to_owned(),
        reason,
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.len() > KEY_BYTES_MAX => Err(fail("too long for a key".into())),
        Ok(_) => {
            let bytes = fs::read(path).map_err(|error| fail(error.to_string()))?;
            Keypair::from_protobuf_encoding(&bytes)
                .map_err(|error| fail(format!("no protobuf-encoded libp2p key ({error})")))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create(path).map_err(|error| fail(error.to_string()))
        }
        Err(error) => Err(fail(error.to_string())),
    }
}

/// Makes a key and writes it so that only its owner can read it.
fn create(path: &Path) -> std::io::Result<Keypair> {
    let keypair = Keypair::generate_secp256k1();
    let bytes = keypair
        .to_protobuf_encoding()
        .map_err(std::io::Error::other)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    Ok(keypair)
}
