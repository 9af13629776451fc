//! `undertone rln slash`: removes a member whose secret is known, for a share of its deposit.

use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::Serialize;
use undertone_contracts::{Address, TxHash};
use undertone_message::{MessageLimits, WakuMessage};
use undertone_rln::poseidon::poseidon;
use undertone_rln::{Fr, RateLimitProof, fr_from_le};

use self::evidence::{Evidence, evidence};
use super::{Failure, element, files};
use crate::commands::{chain, output};

mod evidence;

/// Longest secret file that is read, bytes: 64 digits, `0x`, white space.
const MAX_SECRET_FILE_BYTES: usize = 128;
/// Longest message file that is read, bytes: the hex digits of the longest message that any network
/// carries, with as many line breaks.
const MAX_MESSAGE_FILE_BYTES: usize = 4 * 1024 * 1024;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    contract: chain::ContractArgs,
    #[command(flatten)]
    key: chain::KeyArgs,
    /// File with a message in hex; may be repeated: give all messages of one epoch that you have, at least
    /// two of them with the same nullifier
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1,
        required_unless_present = "secret_file",
        conflicts_with = "secret_file"
    )]
    message: Vec<PathBuf>,
    /// Slash even if the messages do not show that the member exceeded its limit in an epoch
    #[arg(long, conflicts_with = "secret_file")]
    double_signal_suffices: bool,
    /// File with the member's secret, 64 hex digits, little-endian
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Account that receives the reward [default: the account that signs]
    #[arg(long, value_name = "ADDRESS")]
    receiver: Option<Address>,
}

#[derive(Serialize)]
struct SlashReceipt {
    commitment: String,
    index: u32,
    receiver: Address,
    burned: String,
    reward: String,
    /// Time from which `undertone rln claim` can be used, Unix seconds.
    reward_from_s: u64,
    committed: TxHash,
    transaction: TxHash,
    block: u64,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let found = match (&args.secret_file, args.message.as_slice()) {
        (Some(path), _) => Evidence {
            secret: read_secret(path)?,
            messages: 0,
        },
        (None, [_]) => {
            return Err(Failure::usage("one message does not reveal a secret")
                .with_help("give --message twice"));
        }
        (None, paths) => recover(paths)?,
    };
    let secret = found.secret;
    let account = args.contract.account(&args.key)?;
    let contract = args.contract.open()?;
    if args.secret_file.is_none() && !args.double_signal_suffices {
        let member = chain::wait(contract.info(&poseidon(&[secret])))?;
        exceeds(&found, member.map(|member| member.rate_limit))?;
    }
    let receiver = args.receiver.unwrap_or_else(|| account.address());
    let (committed, slashed) = chain::wait(async {
        let committed = contract.commit_slash(&account, &secret, receiver).await?;
        let slashed = contract.slash(&account, &secret, receiver).await?;
        Ok((committed, slashed))
    })?;
    let slashed = SlashReceipt {
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

/// Recovers the member's secret from the messages in these files.
fn recover(paths: &[PathBuf]) -> Result<Evidence, Failure> {
    let proofs = paths.iter().map(|path| read_proof(path));
    let proofs: Vec<_> = proofs.collect::<Result<_, _>>()?;
    evidence(&proofs).map_err(|nothing| {
        Failure::new(nothing.to_string()).with_help(
            "give two different messages that one member published in one epoch with one message id",
        )
    })
}

/// Checks that the messages show more than the member's limit in one epoch, not only a repeated message id.
fn exceeds(found: &Evidence, limit: Option<u32>) -> Result<(), Failure> {
    let shown = found.messages;
    let missing = match limit {
        Some(limit) if shown > limit as usize => return Ok(()),
        Some(limit) => format!(
            "the messages show {shown} of the member in one epoch, and {limit} are its limit: it repeated \
             a message id, as the reference implementation may do within its limit"
        ),
        None => "the contract does not know the member's limit any more".to_owned(),
    };
    Err(Failure::new(missing).with_help(
        "give more messages of that epoch, or --double-signal-suffices: the contract takes any secret",
    ))
}

fn read_proof(path: &Path) -> Result<RateLimitProof, Failure> {
    let no_message = |what: &str| {
        Failure::at(path, what)
            .with_help("give a message as `undertone rln prove --out FILE` writes it")
    };
    let text = hex_digits(files::read(path, MAX_MESSAGE_FILE_BYTES)?);
    let bytes = hex::decode(text).map_err(|_| no_message("not hex digits"))?;
    let message = WakuMessage::decode_with(&Bytes::from(bytes), &MessageLimits::default())
        .map_err(|error| no_message(&error.to_string()))?;
    let field = message.rate_limit_proof.unwrap_or_default();
    RateLimitProof::decode(&field).map_err(|error| no_message(&error.to_string()))
}

fn hex_digits(mut text: Vec<u8>) -> Vec<u8> {
    text.retain(|byte| !byte.is_ascii_whitespace());
    text.strip_prefix(b"0x").map(<[u8]>::to_vec).unwrap_or(text)
}

impl fmt::Display for SlashReceipt {
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
