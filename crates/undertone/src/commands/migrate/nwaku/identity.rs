//! Node key and membership of the reference node.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use undertone_node::Keypair;
use undertone_node::config::RlnConfig;
use undertone_rln::{
    Epoch, IdentityFile, Keystore, KeystoreCredential, MessageIdCounter, WallClock,
};
use zeroize::Zeroizing;

use super::mapping::Mapped;
use super::place;
use crate::commands::Failure;
use crate::commands::rln::keystore::password;

/// Start of a protobuf-encoded private key: type secp256k1, 32 bytes of data.
const SECP256K1: [u8; 4] = [0x08, 0x02, 0x12, 0x20];

/// Seconds in nanoseconds.
const NS_PER_S: u64 = 1_000_000_000;

/// Membership to be moved, with what our node keeps of it.
pub(super) struct FoundMember<'a> {
    credential: KeystoreCredential,
    rln: &'a RlnConfig,
}

/// Membership that was moved.
#[derive(Serialize)]
pub(super) struct MovedMember {
    identity: PathBuf,
    chain_id: String,
    contract: String,
    index: u32,
    limit: u32,
    /// First epoch in which the membership publishes again.
    publishes_from_epoch: u64,
    /// Unix time of its start, seconds.
    publishes_from_unix_s: u64,
}

impl FoundMember<'_> {
    /// Messages per epoch that the membership was registered with.
    pub(super) fn limit(&self) -> u32 {
        self.credential.limit
    }
}

/// Reads the node key from its file or flag; `None` if there is none.
pub(super) fn node_key(
    file: Option<&Path>,
    flag: Option<&str>,
) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
    let (text, place) = match (file, flag) {
        (Some(path), _) => {
            let text = fs::read_to_string(path).map_err(|error| Failure::at(path, error))?;
            (Zeroizing::new(text), path.display().to_string())
        }
        (None, Some(text)) => (
            Zeroizing::new(text.to_owned()),
            "the flag nodekey".to_owned(),
        ),
        (None, None) => return Ok(None),
    };
    // The value is a secret, so errors do not show it.
    let bad = || {
        Failure::new(format!("{place}: not a node key"))
            .with_help("a node key is 64 hexadecimal digits, a secret key of secp256k1")
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
pub(super) fn write_node_key(path: &Path, encoded: &[u8]) -> Result<String, Failure> {
    let keypair =
        Keypair::from_protobuf_encoding(encoded).map_err(|error| Failure::at(path, error))?;
    place::write_new(path, encoded)?;
    Ok(keypair.public().to_peer_id().to_string())
}

/// Opens the keystore's credential: that of the flag for the index, or the only one.
pub(super) fn member<'a>(
    path: &Path,
    password_file: Option<&Path>,
    mapped: &Mapped,
    rln: Option<&'a RlnConfig>,
) -> Result<FoundMember<'a>, Failure> {
    let rln = rln.ok_or_else(|| {
        Failure::usage("the flags switch rate limiting off, so the node has no use for a keystore")
            .with_help("leave --keystore out, or give flags with rln-relay=true or preset=twn")
    })?;
    let failed = |error: undertone_rln::KeystoreError| Failure::new(error.to_string());
    let keystore = Keystore::read(path).map_err(failed)?;
    let password = match (password_file, mapped.secret("rln-relay-cred-password")) {
        (None, Some(flag)) => Zeroizing::new(flag.as_bytes().to_vec()),
        (file, _) => password::present(file)?,
    };
    let wanted = mapped.secret("rln-relay-membership-index");
    let mut chosen = Vec::new();
    for key in keystore.keys() {
        let credential = keystore.open(key, &password).map_err(failed)?;
        if wanted.is_none_or(|index| credential.tree_index.to_string() == index) {
            chosen.push(credential);
        }
    }
    let count = chosen.len();
    match (chosen.pop(), count) {
        (Some(credential), 1) => Ok(FoundMember { credential, rln }),
        (None, _) => Err(Failure::at(path, "no credential of this membership")
            .with_help("check rln-relay-membership-index; `undertone rln keystore list` lists the credentials")),
        _ => Err(Failure::at(path, format!("{count} credentials"))
            .with_help("choose one by the flag rln-relay-membership-index in the file of --flags")),
    }
}

/// Writes the identity and its message-id counter, in which all epochs up to that of a message of this moment are
/// closed: the old node may have used their message ids, and using one twice reveals the secret.
pub(super) fn write_member(member: &FoundMember<'_>) -> Result<MovedMember, Failure> {
    let (rln, credential) = (member.rln, &member.credential);
    let params = &rln.params;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(|_| {
        Failure::new("the clock is before 1970")
            .with_help("set the clock right: epochs depend on it")
    })?;
    let clock = WallClock {
        unix_now_ns: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        epoch_size_s: params.epoch_size_s,
        max_clock_gap_ns: params.max_clock_gap_s.saturating_mul(NS_PER_S),
    };
    let last = clock.newest_epoch();
    // The counter first: without it the identity must not be there.
    let failed = |error: undertone_rln::CounterError| Failure::new(error.to_string());
    let mut counter =
        MessageIdCounter::open(&rln.counter_file, credential.limit).map_err(failed)?;
    counter.close_until(last).map_err(failed)?;
    IdentityFile::write(&rln.identity_file, &credential.identity)
        .map_err(|error| Failure::new(error.to_string()))?;
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
