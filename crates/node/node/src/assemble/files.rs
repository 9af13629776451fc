//! Files with the node's secret key and the REST API's token.
//!
//! The key file is a protobuf-encoded libp2p key, followed by one more protobuf field that other programs
//! skip: field 100 with the peer id of the key. A flipped bit usually results in another valid key and thus
//! another peer, so a file is rejected if its key and peer id do not match.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use libp2p::PeerId;
use libp2p::identity::Keypair;
use undertone_rln::durable::{read_bounded, read_bounded_text, replace};

use super::{AssembleError, NodeKeyDefect};

/// Longest key file that is read, bytes; a protobuf-encoded key and its peer id have fewer than 200.
const KEY_BYTES_MAX: u64 = 4096;

/// Tag of the field with the peer id: field 100, length-delimited.
const PEER_ID_TAG: [u8; 2] = [0xa2, 0x06];

/// Whether there is a key file. An unusable file is an error.
pub(super) fn find_node_key(path: &Path) -> Result<bool, AssembleError> {
    Ok(read_node_key(path)?.is_some())
}

/// Key file as read.
struct KeyFile {
    keypair: Keypair,
    /// Bytes of the file.
    bytes: Vec<u8>,
    /// Bytes that the file should contain.
    content: Vec<u8>,
}

/// Reads the key file. `None` if there is none.
fn read_node_key(path: &Path) -> Result<Option<KeyFile>, AssembleError> {
    let fail = |defect| AssembleError::NodeKey {
        path: path.to_owned(),
        defect,
    };
    let bytes = match read_bounded(path, KEY_BYTES_MAX) {
        Ok(bytes) => bytes,
        // A folder that cannot be created is reported when the node tries to create it.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(fail(NodeKeyDefect::Damaged));
        }
        Err(error) => return Err(fail(NodeKeyDefect::Unreadable(error))),
    };
    let (keypair, content) = read(&bytes).map_err(fail)?;
    Ok(Some(KeyFile {
        keypair,
        bytes,
        content,
    }))
}

/// Returns the key in the file, or creates the file with a new key if it does not exist. A file without a
/// peer id, as older versions and other programs write it, gets one.
pub(super) fn node_key(path: &Path) -> Result<Keypair, AssembleError> {
    let fail = |defect: NodeKeyDefect| AssembleError::NodeKey {
        path: path.to_owned(),
        defect,
    };
    let unwritable = |error| fail(NodeKeyDefect::Unwritable(error));
    if let Some(file) = read_node_key(path)? {
        if file.bytes != file.content
            && let Err(error) = replace(path, &file.content)
        {
            // The peer id is optional; the node works without it.
            let path = path.display();
            tracing::warn!(%path, %error, "cannot add the peer id, which detects damage, to the node key file");
        }
        return Ok(file.keypair);
    }
    let keypair = Keypair::generate_secp256k1();
    let content = encode(&keypair).ok_or_else(|| fail(NodeKeyDefect::Damaged))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    replace(path, &content).map_err(unwritable)?;
    Ok(keypair)
}

/// Returns the key, and the bytes that its file should contain.
fn read(bytes: &[u8]) -> Result<(Keypair, Vec<u8>), NodeKeyDefect> {
    let damaged = |_| NodeKeyDefect::Damaged;
    let keypair = Keypair::from_protobuf_encoding(bytes).map_err(damaged)?;
    let key = keypair.to_protobuf_encoding().map_err(damaged)?;
    let content = encode(&keypair).ok_or(NodeKeyDefect::Damaged)?;
    if bytes == key || bytes == content {
        return Ok((keypair, content));
    }
    let field = bytes.strip_prefix(key.as_slice());
    let field = field.and_then(|field| field.strip_prefix(&PEER_ID_TAG));
    let expected = field.and_then(|field| PeerId::from_bytes(field.get(1..)?).ok());
    let found = keypair.public().to_peer_id();
    // If the two are equal, the field's length is wrong.
    match expected.filter(|expected| *expected != found) {
        Some(expected) => Err(NodeKeyDefect::OtherPeer {
            expected: Box::new(expected),
            found: Box::new(found),
        }),
        None => Err(NodeKeyDefect::Damaged),
    }
}

/// Encodes a key and its peer id as file content; returns `None` if the key cannot be encoded.
fn encode(keypair: &Keypair) -> Option<Vec<u8>> {
    let mut bytes = keypair.to_protobuf_encoding().ok()?;
    let peer_id = keypair.public().to_peer_id().to_bytes();
    bytes.extend(PEER_ID_TAG);
    bytes.push(u8::try_from(peer_id.len()).ok().filter(|len| *len < 0x80)?);
    bytes.extend(peer_id);
    Some(bytes)
}

/// Longest token file that is read, bytes.
const TOKEN_BYTES_MAX: u64 = 1024;

/// Number of random bytes in a token; it has twice as many hexadecimal digits.
const TOKEN_RANDOM_BYTES: usize = 32;

/// Returns the REST API's token from the file, or creates the file with a new token if it does not exist.
pub(super) fn rest_token(path: &Path) -> Result<String, AssembleError> {
    let fail = |reason: String| AssembleError::RestToken {
        path: path.to_owned(),
        reason,
    };
    let kept = match read_bounded_text(path, TOKEN_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => create_token(path),
        kept => kept,
    };
    let token = kept.map_err(|error| fail(error.to_string()))?;
    match token.trim() {
        "" => Err(fail("the file is empty".into())),
        token => Ok(token.to_owned()),
    }
}

fn create_token(path: &Path) -> io::Result<String> {
    let mut random = [0; TOKEN_RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::from)?;
    let token = hex::encode(random);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    replace(path, token.as_bytes())?;
    Ok(token)
}

#[cfg(test)]
#[path = "tests/files.rs"]
mod tests;
