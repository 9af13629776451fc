//! `undertone rln verify`: validates a message as a relay does.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::Serialize;
use undertone_message::NetworkPreset;
use undertone_rln::{Key, Verifier};

use super::verdict::{Judge, Verdict};
use super::{Failure, element, files, network, registry};
use crate::commands::output;

/// Maximum number of characters per byte of a message: two hex digits, and as much again for line breaks.
const TEXT_PER_BYTE: usize = 4;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the registry
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
    /// Network that the message is for
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = network::parse)]
    network: NetworkPreset,
    /// File with the encoded message in hex, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    message: PathBuf,
    /// Unix time at which the message is validated, in ns [default: now]
    #[arg(long, value_name = "N")]
    now_ns: Option<u64>,
}

#[derive(Serialize)]
struct Judged {
    valid: bool,
    network: &'static str,
    /// Stage that rejected the message.
    stage: Option<&'static str>,
    reason: Option<String>,
    epoch: Option<u64>,
    nullifier: Option<String>,
    root: Option<String>,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let rln = network::rln(&args.network)?;
    let members = registry::existing(&args.registry)?;
    let view = registry::view(&args.registry, &members, rln.root_window)?;
    let message = read_hex(&args.message, args.network.max_message_bytes)?;
    let unix_now_ns = args.now_ns.map_or_else(network::unix_now_ns, Ok)?;
    let key = Key::load().map_err(|error| Failure::new(error.to_string()))?;
    let verdict = Judge {
        policy: rln.policy,
        roots: view.roots(),
        max_message_bytes: args.network.max_message_bytes,
        verifier: Verifier::new(&key),
        unix_now_ns,
    }
    .judge(&message);
    output::print(&Judged::new(args.network.name, &verdict), json)?;
    verdict.map(|_| ()).map_err(|invalid| {
        let failure = Failure::at(&args.message, format!("not valid: {invalid}"));
        match invalid.remedy() {
            Some(remedy) => failure.with_help(remedy),
            None => failure,
        }
    })
}

/// Reads a message written in hex, with or without `0x` and white space.
fn read_hex(path: &Path, max_message_bytes: usize) -> Result<Bytes, Failure> {
    let max_bytes = max_message_bytes.saturating_mul(TEXT_PER_BYTE);
    let mut text = if path == Path::new("-") {
        files::read_from(Path::new("standard input"), io::stdin().lock(), max_bytes)?
    } else {
        files::read(path, max_bytes)?
    };
    text.retain(|byte| !byte.is_ascii_whitespace());
    let digits = text.strip_prefix(b"0x").unwrap_or(&text);
    hex::decode(digits).map(Bytes::from).map_err(|error| {
        Failure::at(path, format!("not hex digits: {error}"))
            .with_help("give a message as `undertone rln prove --out FILE` writes it")
    })
}

impl Judged {
    fn new(network: &'static str, verdict: &Verdict) -> Self {
        let proof = verdict.as_ref().ok();
        let invalid = verdict.as_ref().err();
        Self {
            valid: proof.is_some(),
            network,
            stage: invalid.map(|invalid| invalid.stage()),
            reason: invalid.map(ToString::to_string),
            epoch: proof.map(|proof| proof.epoch.0),
            nullifier: proof.map(|proof| element(&proof.nullifier)),
            root: proof.map(|proof| element(&proof.statement.root)),
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<(&str, &dyn fmt::Display)> =
            vec![("verdict", if self.valid { &"valid" } else { &"not valid" })];
        let optional: [(_, Option<&dyn fmt::Display>); 5] = [
            ("stage", self.stage.as_ref().map(|text| text as _)),
            ("reason", self.reason.as_ref().map(|text| text as _)),
            ("epoch", self.epoch.as_ref().map(|number| number as _)),
            ("nullifier", self.nullifier.as_ref().map(|text| text as _)),
            ("root", self.root.as_ref().map(|text| text as _)),
        ];
        let present = optional.into_iter();
        lines.extend(present.filter_map(|(name, value)| Some((name, value?))));
        output::fields(f, &lines)
    }
}
