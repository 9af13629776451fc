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

/// Longest file with a token that is read, bytes.
const TOKEN_BYTES_MAX: u64 = 1024;

/// Random bytes of a token; twice as many hexadecimal digits.
const TOKEN_RANDOM_BYTES: usize = 32;

/// The REST API's token in the file; a new one, written there, when there is no file yet.
pub(super) fn rest_token(path: &Path) -> Result<String, AssembleError> {
    let fail = |reason: String| AssembleError::RestToken {
        path: path.to_owned(),
        reason,
    };
    let kept = match fs::metadata(path) {
        Ok(metadata) if metadata.len() > TOKEN_BYTES_MAX => {
            return Err(fail("too long for a token".into()));
        }
        Ok(_) => fs::read_to_string(path),
        Err(error) if error.kind() == ErrorKind::NotFound => create_token(path),
        Err(error) => Err(error),
    };
    let token = kept.map_err(|error| fail(error.to_string()))?;
    match token.trim() {
        "" => Err(fail("the file is empty".into())),
        token => Ok(token.to_owned()),
    }
}

fn create_token(path: &Path) -> std::io::Result<String> {
    let mut random = [0; TOKEN_RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(std::io::Error::from)?;
    let token = hex::encode(random);
    write_secret(path, token.as_bytes())?;
    Ok(token)
}

/// Makes a key and writes it so that only its owner can read it.
fn create(path: &Path) -> std::io::Result<Keypair> {
    let keypair = Keypair::generate_secp256k1();
    let bytes = keypair
        .to_protobuf_encoding()
        .map_err(std::io::Error::other)?;
    write_secret(path, &bytes)?;
    Ok(keypair)
}

/// Writes a new file that only its owner can read.
fn write_secret(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
