//! Node key and membership of the reference node.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use undertone_node::Keypair;
use undertone_node::config::RlnConfig;
use undertone_rln::durable::read_bounded_text;
use undertone_rln::{
    Epoch, IdentityFile, Keystore, KeystoreCredential, MessageIdCounter, WallClock,
};
use zeroize::Zeroizing;

use crate::error::MigrateError;
use crate::folder;
use crate::mapping::Mapped;
use crate::read::MAX_FILE_BYTES;

/// Start of a protobuf-encoded private key: type secp256k1, 32 bytes of data.
const SECP256K1: [u8; 4] = [0x08, 0x02, 0x12, 0x20];

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;

/// A keystore that was read, but not decrypted yet.
#[derive(Debug)]
pub struct FoundKeystore {
    path: PathBuf,
    keystore: Keystore,
    password: Option<Zeroizing<Vec<u8>>>,
}

/// Membership that was transferred.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct MovedMember {
    /// File with the identity.
    pub identity: PathBuf,
    /// Chain of the membership contract.
    pub chain_id: String,
    /// Address of the membership contract.
    pub contract: String,
    /// Index of the membership in the tree.
    pub index: u32,
    /// Messages per epoch.
    pub limit: u32,
    /// First epoch in which the membership may publish again.
    pub publishes_from_epoch: u64,
    /// Start of that epoch, Unix seconds.
    pub publishes_from_unix_s: u64,
}

impl FoundKeystore {
    pub(crate) fn read(path: &Path, mapped: &Mapped) -> Result<Self, MigrateError> {
        let password = mapped.secret("rln-relay-cred-password");
        Ok(Self {
            path: path.to_owned(),
            keystore: Keystore::read(path)?,
            password: password.map(|text| Zeroizing::new(text.as_bytes().to_vec())),
        })
    }

    /// Returns the password of the keystore, if it is among the flags.
    pub fn password_of_flags(&self) -> Option<&[u8]> {
        self.password.as_deref().map(Vec::as_slice)
    }

    pub(crate) fn open(
        &self,
        password: &[u8],
        mapped: &Mapped,
    ) -> Result<KeystoreCredential, MigrateError> {
        let wanted = mapped.secret("rln-relay-membership-index");
        let mut chosen = Vec::new();
        for key in self.keystore.keys() {
            let credential = self.keystore.open(key, password)?;
            if wanted.is_none_or(|index| credential.tree_index.to_string() == index) {
                chosen.push(credential);
            }
        }
        let (count, path) = (chosen.len(), self.path.clone());
        match (chosen.pop(), count) {
            (Some(credential), 1) => Ok(credential),
            (None, _) => Err(MigrateError::NoCredential { path }),
            _ => Err(MigrateError::SeveralCredentials { path, count }),
        }
    }
}

/// Reads the node key from its file or flag; `None` if there is none.
pub(crate) fn node_key(
    file: Option<&Path>,
    flag: Option<&str>,
) -> Result<Option<Zeroizing<Vec<u8>>>, MigrateError> {
    let (text, place) = match (file, flag) {
        (Some(path), _) => {
            let text =
                read_bounded_text(path, MAX_FILE_BYTES).map_err(|source| MigrateError::File {
                    path: path.to_owned(),
                    source,
                })?;
            (Zeroizing::new(text), path.display().to_string())
        }
        (None, Some(text)) => (
            Zeroizing::new(text.to_owned()),
            "the flag nodekey".to_owned(),
        ),
        (None, None) => return Ok(None),
    };
    // The value is a secret, so errors do not show it.
    let bad = || MigrateError::NodeKey {
        place: place.clone(),
    };
    let digits = text.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let mut secret = Zeroizing::new([0; 32]);
    hex::decode_to_slice(digits, secret.as_mut()).map_err(|_| bad())?;
    let mut encoded = Zeroizing::new(SECP256K1.to_vec());
    encoded.extend(secret.iter());
    Keypair::from_protobuf_encoding(&encoded).map_err(|_| bad())?;
    Ok(Some(encoded))
}

/// Writes the node key; returns its peer id.
pub(crate) fn write_node_key(path: &Path, encoded: &[u8]) -> Result<String, MigrateError> {
    let keypair = Keypair::from_protobuf_encoding(encoded).map_err(|_| MigrateError::NodeKey {
        place: path.display().to_string(),
    })?;
    folder::write_new(path, encoded)?;
    Ok(keypair.public().to_peer_id().to_string())
}

/// Writes the identity and its message-id counter. The counter has all epochs closed up to the newest that a
/// message sent now could have: the old node may have used their message ids, and using an id twice reveals the
/// secret.
pub(crate) fn write_member(
    credential: &KeystoreCredential,
    rln: &RlnConfig,
) -> Result<MovedMember, MigrateError> {
    let params = &rln.params;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(|_| MigrateError::Clock)?;
    let clock = WallClock {
        unix_now_ns: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        epoch_size_s: params.epoch_size_s,
        max_clock_gap_ns: params.max_clock_gap_s.saturating_mul(NS_PER_S),
    };
    let last = clock.newest_epoch();
    // Counter first: the identity must never exist without it.
    let mut counter = MessageIdCounter::open(&rln.counter_file, credential.limit)?;
    counter.close_until(last)?;
    IdentityFile::write(&rln.identity_file, &credential.identity)?;
    let from = Epoch(last.0.saturating_add(1));
    Ok(MovedMember {
        identity: rln.identity_file.clone(),
        chain_id: credential.chain_id.clone(),
        contract: credential.contract.clone(),
        index: credential.tree_index,
        limit: credential.limit,
        publishes_from_epoch: from.0,
        publishes_from_unix_s: from.0.saturating_mul(params.epoch_size_s.max(1)),
    })
}

impl fmt::Display for MovedMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "index {} of {} on chain {}, {} messages per epoch; it publishes again from epoch {} (Unix time {}) on, \
             so that no message id of the old node is used twice; never start the old node again with this keystore",
            self.index,
            self.contract,
            self.chain_id,
            self.limit,
            self.publishes_from_epoch,
            self.publishes_from_unix_s
        )
    }
}
