use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn key(&self) -> PathBuf {
        self.0.path().join("node-key")
    }
}

fn defect(error: AssembleError) -> NodeKeyDefect {
    match error {
        AssembleError::NodeKey { defect, .. } => defect,
        other => panic!("{other}"),
    }
}

#[test]
fn a_key_is_made_once_and_is_its_owners() {
    let folder = Folder::new();
    let made = node_key(&folder.key()).unwrap();
    let read = node_key(&folder.key()).unwrap();
    assert_eq!(made.public(), read.public());
    let mode = fs::metadata(folder.key()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Other programs read the key and skip the field after it.
    let bytes = fs::read(folder.key()).unwrap();
    let elsewhere = Keypair::from_protobuf_encoding(&bytes).unwrap();
    assert_eq!(elsewhere.public(), made.public());
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let folder = Folder::new();
    let made = node_key(&folder.key()).unwrap();
    let good = fs::read(folder.key()).unwrap();
    let key_bytes = made.to_protobuf_encoding().unwrap().len();
    let mut others = 0;
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(folder.key(), &bytes).unwrap();
        match defect(node_key(&folder.key()).unwrap_err()) {
            NodeKeyDefect::OtherPeer { expected, found } => {
                assert_ne!(expected, found);
                others += 1;
            }
            NodeKeyDefect::Damaged => {}
            other => panic!("{other}"),
        }
        assert_eq!(fs::read(folder.key()).unwrap(), bytes, "the evidence stays");
    }
    assert!(
        others >= (key_bytes - 4) * 8,
        "only {others} named the peer"
    );
    for len in (0..good.len()).filter(|len| *len != key_bytes) {
        fs::write(folder.key(), &good[..len]).unwrap();
        node_key(&folder.key()).unwrap_err();
    }
}

#[test]
fn a_damaged_key_is_told_with_file_and_remedy() {
    let folder = Folder::new();
    let made = node_key(&folder.key()).unwrap();
    let mut bytes = fs::read(folder.key()).unwrap();
    bytes[20] ^= 1;
    fs::write(folder.key(), &bytes).unwrap();
    let said = node_key(&folder.key()).unwrap_err().to_string();
    let peer = made.public().to_peer_id().to_string();
    for part in [
        folder.key().to_str().unwrap(),
        &peer,
        "backup",
        "move the file away",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_key_without_its_peer_is_read_and_completed() {
    for keypair in [Keypair::generate_secp256k1(), Keypair::generate_ed25519()] {
        let folder = Folder::new();
        fs::write(folder.key(), keypair.to_protobuf_encoding().unwrap()).unwrap();
        assert_eq!(node_key(&folder.key()).unwrap().public(), keypair.public());
        assert_eq!(fs::read(folder.key()).unwrap(), encode(&keypair).unwrap());
        assert_eq!(node_key(&folder.key()).unwrap().public(), keypair.public());
    }
}

#[test]
fn a_key_that_cannot_be_written_leaves_nothing_behind() {
    let folder = Folder::new();
    // A folder in the place of the temporary file makes the write fail, even for root.
    let mut obstacle = folder.key().into_os_string();
    obstacle.push(".tmp");
    fs::create_dir(&obstacle).unwrap();
    let unwritable = defect(node_key(&folder.key()).unwrap_err());
    assert!(
        matches!(unwritable, NodeKeyDefect::Unwritable(_)),
        "{unwritable}"
    );
    assert!(!folder.key().exists());
}
