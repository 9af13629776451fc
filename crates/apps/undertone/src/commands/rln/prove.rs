//! `undertone rln prove`: makes a message with its proof as a publisher does, without a node.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use undertone_membership::{Member, MemberLookup};
use undertone_message::{
    ContentTopic, ContentTopicError, NetworkPreset, WakuMessage, message_hash, shard_of,
};
use undertone_rln::{
    CounterError, Epoch, Identity, IdentityFile, Key, MessageIdCounter, ProofRequest, Prover,
    RateLimitProof, WallClock, signal_hash,
};

use super::{Failure, files, network, registry};
use crate::commands::output;

/// Bytes that an encoded proof adds to a message: 335 for the proof, two each for tag and length.
const PROOF_FIELD_BYTES: usize = 335 + 2 + 2;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the registry
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
    /// File of the identity that publishes
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
    /// Message-id counter of this identity: always use the same file, also for its node, because two
    /// counters give out the same id twice, which reveals the secret
    #[arg(long, value_name = "FILE")]
    counter: PathBuf,
    /// Network that the message is for
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = network::parse)]
    network: NetworkPreset,
    /// Content topic, like /my-app/1/chat/proto
    #[arg(long, value_name = "TOPIC", value_parser = parse_topic)]
    content_topic: String,
    /// Payload as text [default: empty]
    #[arg(long, value_name = "TEXT", conflicts_with = "payload_file")]
    payload: Option<String>,
    /// File whose bytes are the payload
    #[arg(long, value_name = "FILE")]
    payload_file: Option<PathBuf>,
    /// Timestamp of the message, Unix time in ns [default: now]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    timestamp_ns: Option<i64>,
    /// New file for the message in hex, for `undertone rln verify`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Proved<'a> {
    network: &'static str,
    pubsub_topic: String,
    message_hash: String,
    index: u32,
    epoch: u64,
    message_id: u32,
    timestamp_ns: i64,
    proof: String,
    message: String,
    out: Option<&'a PathBuf>,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    // A message id is taken last, after all user input has been checked.
    let rln = network::rln(&args.network)?;
    let identity = IdentityFile::read(&args.identity);
    let identity = identity.map_err(|error| Failure::new(error.to_string()))?;
    let members = registry::existing(&args.registry)?;
    let member = membership(args, &members, &identity)?;
    let view = registry::view(&args.registry, &members, rln.root_window)?;
    let mut message = message(args, rln.policy.max_clock_gap_ns)?;
    if let Some(out) = &args.out {
        files::check_new(out)?;
    }
    let key = Key::load().map_err(|error| Failure::new(error.to_string()))?;

    let timestamp_ns = message.timestamp_ns();
    let time_ns = timestamp_ns.unsigned_abs();
    let epoch = Epoch::at(time_ns, rln.policy.epoch_size_s);
    let clock = WallClock {
        unix_now_ns: network::unix_now_ns()?,
        epoch_size_s: rln.policy.epoch_size_s,
        max_clock_gap_ns: rln.policy.max_clock_gap_ns,
    };
    let message_id = take_id(&args.counter, member.limit, epoch, &clock)?;
    let request = ProofRequest {
        identity: &identity,
        limit: member.limit,
        path: &view.path(member.index),
        generation: rln.policy.generation,
        epoch,
        identifier: &rln.policy.identifier,
        message_id,
        x: signal_hash(&message.payload, &message.content_topic, timestamp_ns),
    };
    let proof = Prover::new(key).prove(&request);
    let proof: RateLimitProof = proof.map_err(|error| Failure::new(error.to_string()))?;

    let proof = proof.encode();
    let proof_hex = hex::encode(&proof);
    message.rate_limit_proof = Some(proof.into());
    let message_hex = hex::encode(message.encode());
    if let Some(out) = &args.out {
        files::write_new(out, &message_hex)?;
    }
    let pubsub_topic = pubsub_topic(&args.network, &args.content_topic)?;
    let proved = Proved {
        network: args.network.name,
        message_hash: message_hash(&pubsub_topic, &message).to_string(),
        pubsub_topic,
        index: member.index.get(),
        epoch: epoch.0,
        message_id,
        timestamp_ns,
        proof: proof_hex,
        message: message_hex,
        out: args.out.as_ref(),
    };
    output::print(&proved, json)
}

fn membership(
    args: &Args,
    members: &dyn MemberLookup,
    identity: &Identity,
) -> Result<Member, Failure> {
    let found = members.find(identity.commitment());
    found
        .map_err(registry::failed(&args.registry))?
        .ok_or_else(|| {
            let (registry, identity) = (args.registry.display(), args.identity.display());
            Failure::new(format!("{identity}: not a member of {registry}")).with_help(format!(
                "undertone rln register --registry {registry} --identity {identity}"
            ))
        })
}

/// Makes the message without its proof.
fn message(args: &Args, max_clock_gap_ns: u64) -> Result<WakuMessage, Failure> {
    let max_bytes = args.network.max_message_bytes;
    let payload = match (&args.payload, &args.payload_file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(path)) => files::read(path, max_bytes)?,
        (None, None) => Vec::new(),
    };
    let mut message = WakuMessage::new(payload, args.content_topic.as_str());
    message.timestamp = Some(timestamp_ns(args, max_clock_gap_ns)?);
    let size_bytes = message.encoded_len() + PROOF_FIELD_BYTES;
    if size_bytes > max_bytes {
        let network = args.network.name;
        return Err(Failure::new(format!(
            "message of {size_bytes} bytes; network {network} carries at most {max_bytes}"
        ))
        .with_help("send the payload in parts"));
    }
    Ok(message)
}

/// Returns the message's timestamp. Rejects times far ahead: no relay would accept the message, and the
/// counter, which never goes back, would refuse every id until then.
fn timestamp_ns(args: &Args, max_clock_gap_ns: u64) -> Result<i64, Failure> {
    let now_ns = network::unix_now_ns()?;
    let now = i64::try_from(now_ns).unwrap_or(i64::MAX);
    let timestamp_ns = args.timestamp_ns.unwrap_or(now);
    let ahead_ns = timestamp_ns.unsigned_abs().saturating_sub(now_ns);
    if ahead_ns > max_clock_gap_ns {
        return Err(Failure::new(format!(
            "--timestamp-ns {timestamp_ns}: {ahead_ns} ns ahead of the clock, relays accept at \
             most {max_clock_gap_ns} ns"
        ))
        .with_help("leave it away for the present time"));
    }
    Ok(timestamp_ns)
}

fn take_id(counter: &Path, limit: u32, epoch: Epoch, clock: &WallClock) -> Result<u32, Failure> {
    let failed = |error| match error {
        CounterError::Exhausted { .. } => Failure::at(counter, error).with_help(
            "each run of `prove` sets a block of ids aside, a sixteenth of the limit but at most \
             8; a node uses its blocks up",
        ),
        CounterError::EpochClosed { .. } | CounterError::AheadOfClock { .. } => {
            Failure::at(counter, error).with_help("or give another --timestamp-ns")
        }
        CounterError::LimitOutOfRange { .. } => Failure::at(counter, error),
        // These errors name their file themselves.
        CounterError::Locked(_)
        | CounterError::Io { .. }
        | CounterError::Corrupt { .. }
        | CounterError::Missing(_) => Failure::new(error.to_string()),
    };
    let mut counter = MessageIdCounter::open(counter, limit).map_err(failed)?;
    counter.next(epoch, clock).map_err(failed)
}

fn parse_topic(text: &str) -> Result<String, ContentTopicError> {
    ContentTopic::parse(text).map(|_| text.to_owned())
}

/// Returns the message's pubsub topic by autosharding.
fn pubsub_topic(network: &NetworkPreset, content_topic: &str) -> Result<String, Failure> {
    let topic = ContentTopic::parse(content_topic);
    let topic = topic.map_err(|error| Failure::new(error.to_string()))?;
    let shard = shard_of(&topic, network.num_shards);
    Ok(format!("/waku/2/rs/{}/{shard}", network.cluster_id))
}

impl fmt::Display for Proved<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("network", &self.network),
                ("topic", &self.pubsub_topic),
                ("hash", &self.message_hash),
                ("member", &self.index),
                ("epoch", &self.epoch),
                ("message id", &self.message_id),
                ("timestamp", &format!("{} ns", self.timestamp_ns)),
                ("proof", &self.proof),
            ],
        )?;
        match self.out {
            Some(out) => writeln!(f, "message     in {}", out.display()),
            None => writeln!(f, "message     {}", self.message),
        }
    }
}
