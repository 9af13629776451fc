//! `undertone rln slash`: removes a member whose secret is known, for a share of its deposit.

use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::Serialize;
use undertone_contracts::{Address, TxHash};
use undertone_message::{Limits, WakuMessage};
use undertone_rln::poseidon::poseidon;
use undertone_rln::{Fr, RateLimitProof, fr_from_le, recover_secret};

use super::{Failure, element, files};
use crate::commands::{chain, output};

/// 64 digits, `0x`, white space.
const MAX_SECRET_FILE_BYTES: usize = 128;
/// Hex digits of the longest message that is carried anywhere, with as many line breaks.
const MAX_MESSAGE_FILE_BYTES: usize = 4 * 1024 * 1024;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    contract: chain::Contract,
    #[command(flatten)]
    key: chain::Key,
    /// File with a message in hex; give two that the member published with one message id
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1,
        required_unless_present = "secret_file",
        conflicts_with = "secret_file"
    )]
    message: Vec<PathBuf>,
    /// File with the member's secret, 64 hex digits, little-endian
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Who gets the reward [default: the account that signs]
    #[arg(long, value_name = "ADDRESS")]
    receiver: Option<Address>,
}

#[derive(Serialize)]
struct Slashed {
    commitment: String,
    index: u32,
    receiver: Address,
    burned: String,
    reward: String,
    /// When `undertone rln claim` can be used, Unix time in seconds.
    reward_from_s: u64,
    committed: TxHash,
    transaction: TxHash,
    block: u64,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let secret = match (&args.secret_file, args.message.as_slice()) {
        (Some(path), _) => read_secret(path)?,
        (None, [one, other]) => recover([one, other])?,
        (None, _) => {
            return Err(Failure::usage("one message does not reveal a secret")
                .with_help("give --message twice"));
        }
    };
    let account = args.contract.account(&args.key)?;
    let contract = args.contract.open()?;
    let receiver = args.receiver.unwrap_or_else(|| account.address());
    let (committed, slashed) = chain::wait(async {
        let committed = contract.commit_slash(&account, &secret, receiver).await?;
        let slashed = contract.slash(&account, &secret, receiver).await?;
        Ok((committed, slashed))
    })?;
    let slashed = Slashed {
        commitment: element(&poseidon(&[secret])),
        index: slashed.index,
        receiver,
        burned: slashed.burned.to_string(),
        reward: slashed.reward.to_string(),
        reward_from_s: slashed.payable_from_s,
        committed: committed.hash,
        transaction: slashed.mined.hash,
        block: slashed.mined.block,
    };
    output::print(&slashed, json)
}

fn read_secret(path: &Path) -> Result<Fr, Failure> {
    let no_secret =
        |_| Failure::at(path, "not a secret").with_help("it is 64 hex digits, little-endian");
    let mut bytes = [0; 32];
    let text = hex_digits(files::read(path, MAX_SECRET_FILE_BYTES)?);
    hex::decode_to_slice(text, &mut bytes).map_err(|_| no_secret(()))?;
    fr_from_le(&bytes).map_err(|_| no_secret(()))
}

/// The secret on which two messages' points lie.
fn recover(paths: [&PathBuf; 2]) -> Result<Fr, Failure> {
    let [one, other] = paths.map(|path| read_proof(path));
    let (one, other) = (one?, other?);
    if one.nullifier != other.nullifier {
        return Err(Failure::new("the two messages have different nullifiers")
            .with_help("give two that one member published in one epoch with one message id"));
    }
    let point = |proof: &RateLimitProof| Some((field(&proof.share_x)?, field(&proof.share_y)?));
    let secret = point(&one)
        .zip(point(&other))
        .and_then(|(one, other)| recover_secret(one, other));
    secret.ok_or_else(|| {
        Failure::new("the two messages reveal nothing: they are the same")
            .with_help("give two different ones")
    })
}

fn read_proof(path: &Path) -> Result<RateLimitProof, Failure> {
    let no_message = |what: &str| {
        Failure::at(path, what)
            .with_help("give a message as `undertone rln prove --out FILE` writes it")
    };
    let text = hex_digits(files::read(path, MAX_MESSAGE_FILE_BYTES)?);
    let bytes = hex::decode(text).map_err(|_| no_message("not hex digits"))?;
    let message = WakuMessage::decode_with(&Bytes::from(bytes), &Limits::default())
        .map_err(|error| no_message(&error.to_string()))?;
    let field = message.rate_limit_proof.unwrap_or_default();
    RateLimitProof::decode(&field).map_err(|error| no_message(&error.to_string()))
}

fn field(bytes: &[u8; 32]) -> Option<Fr> {
    fr_from_le(bytes).ok()
}

fn hex_digits(mut text: Vec<u8>) -> Vec<u8> {
    text.retain(|byte| !byte.is_ascii_whitespace());
    text.strip_prefix(b"0x").map(<[u8]>::to_vec).unwrap_or(text)
}

impl fmt::Display for Slashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("slashed", &self.commitment),
                ("index", &self.index),
                ("receiver", &self.receiver),
                ("burned", &self.burned),
                ("reward", &self.reward),
                ("claim it from", &self.reward_from_s),
                ("committed by", &self.committed),
                ("slashed by", &self.transaction),
                ("block", &self.block),
            ],
        )
    }
}
