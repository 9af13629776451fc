//! `undertone store verify`: verifies history by its proofs and the membership at the time of each message.

use std::time::Duration;

use undertone_message::MessageHash;
use undertone_node::assemble::relay_config;
use undertone_node::config::NodeConfig;
use undertone_relay::{HistoricMessage, HistoryJudge, HistoryVerdict, Rejection};
use undertone_rln::prover::os_rng;
use undertone_rln::{Key, ProofRejection, RootTolerance, Verifier};
use undertone_services::history::{HistoryData, HistoryEntry};

use super::membership::PastMembership;
use super::options::Selection;
use super::report::{Offending, UNREADABLE, Verified};
use super::source::{HistorySource, SourcePage};
use crate::commands::progress::Spinner;
use crate::commands::rln::{element, network};
use crate::commands::{Failure, output};

const NS_PER_S: u64 = 1_000_000_000;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Verify at most this many messages
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    max_messages: usize,
    /// Show at most this many messages that are not valid
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: usize,
    /// Refuse roots that a newer one had replaced for longer than this, seconds [as relays do: any root that was
    /// among the network's newest at the time]
    #[arg(long, value_name = "S")]
    max_root_age_s: Option<u64>,
    /// How long relays may take to notice a change of the registry, seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    registry_lag_s: u64,
}

pub(super) async fn run(args: &Args, json: bool) -> Result<(), Failure> {
    super::log()?;
    let config = args.selection.config()?;
    // Errors in the flags are reported before anything is read.
    args.selection.query()?;
    let progress = Spinner::new(!json);
    let mut verification = HistoryVerification::prepare(args, &config, &progress)?;
    let mut source = HistorySource::open(&args.selection, args.max_messages).await?;
    let walked = verification.walk(args, &mut source).await;
    source.close().await;
    progress.finish();
    walked?;
    let verified = verification.verified;
    output::print(&verified, json)?;
    match verified.not_valid() {
        0 => Ok(()),
        count => Err(Failure::invalid(format!(
            "{count} of {} messages are not valid",
            verified.messages
        ))),
    }
}

/// State of verifying one history.
struct HistoryVerification<'a> {
    membership: PastMembership,
    judge: HistoryJudge,
    verifier: Verifier,
    /// Configured length of an epoch.
    epoch_s: u64,
    progress: &'a Spinner,
    verified: Verified,
}

impl<'a> HistoryVerification<'a> {
    fn prepare(args: &Args, config: &NodeConfig, progress: &'a Spinner) -> Result<Self, Failure> {
        let network = config.network.name;
        let without = || {
            Failure::usage(format!(
                "network {network}: has no rate limit, so its messages have no proofs"
            ))
            .with_help("choose another --network")
        };
        let rln = config.rln.as_ref().ok_or_else(without)?;
        let relay = relay_config(config);
        let policy = relay.rln.as_ref().map(|rln| rln.policy);
        let policy = policy.ok_or_else(without)?;
        let gap_ns = policy.max_clock_gap_ns;
        let ns = |s: u64| s.saturating_mul(NS_PER_S);
        let tolerance = RootTolerance::new(gap_ns, gap_ns.saturating_add(ns(args.registry_lag_s)))
            .with_max_age_ns(args.max_root_age_s.map(ns));
        let cannot_start = |error: String| Failure::new(format!("cannot start: {error}"));
        let key = Key::of(rln.params.circuit).map_err(|error| cannot_start(error.to_string()))?;
        let patience = Duration::from_secs(args.selection.patience_s);
        let membership = PastMembership::open(rln, patience, progress)?;
        let verified = Verified {
            network,
            store: args.selection.place(),
            registry: membership.place.clone(),
            roots: membership.timeline.len(),
            messages: 0,
            valid: 0,
            valid_with_replaced_root: 0,
            longest_replaced_s: 0,
            first_ns: None,
            last_ns: None,
            is_cut: false,
            verdicts: Default::default(),
            offending: Vec::new(),
        };
        Ok(Self {
            membership,
            judge: HistoryJudge::new(&relay, tolerance).ok_or_else(without)?,
            verifier: Verifier::new(&key),
            epoch_s: policy.epoch_size_s,
            progress,
            verified,
        })
    }

    /// Verifies the history page by page.
    async fn walk(&mut self, args: &Args, source: &mut HistorySource) -> Result<(), Failure> {
        while let Some(mut page) = source.page().await? {
            let left = args.max_messages as u64 - self.verified.messages;
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            if page.entries.len() + page.unreadable.len() > left {
                page.entries.truncate(left);
                page.unreadable.truncate(left - page.entries.len());
                self.verified.is_cut = true;
            }
            self.page(args, page)?;
            if self.verified.is_cut {
                return Ok(());
            }
        }
        Ok(())
    }

    fn page(&mut self, args: &Args, mut page: SourcePage) -> Result<(), Failure> {
        let mut readable: Vec<(MessageHash, HistoryData)> = Vec::new();
        for HistoryEntry { hash, data } in page.entries {
            match data {
                Some(data) => readable.push((hash, data)),
                None => page.unreadable.push(hash),
            }
        }
        let messages: Vec<_> = readable
            .iter()
            .map(|(hash, data)| HistoricMessage {
                hash: *hash,
                pubsub_topic: &data.pubsub_topic,
                message: &data.message,
            })
            .collect();
        let undated = self.judge.undated(&messages, &self.membership.timeline);
        self.membership.date(undated, self.progress)?;
        let unix_now_ns = network::unix_now_ns()?;
        let rng = os_rng().map_err(|error| Failure::new(error.to_string()));
        let (verifier, mut rng) = (&self.verifier, rng?);
        let timeline = &self.membership.timeline;
        let verdicts = self
            .judge
            .judge(&messages, timeline, unix_now_ns, |statements| {
                verifier.verify_batch(statements, &mut rng)
            });
        if self.verified.messages == 0
            && let Some((least_s, most_s)) = other_epoch_s(&messages, &verdicts)
        {
            let fits = match least_s == most_s {
                true => format!("{least_s} s"),
                false => format!("some length from {least_s} to {most_s} s"),
            };
            return Err(Failure::usage(format!(
                "the proofs are not of epochs of {} s: all of the first {} fit {fits}",
                self.epoch_s,
                messages.len()
            ))
            .with_help("give --rln-epoch-s as the network's nodes have it"));
        }
        for (historic, verdict) in messages.iter().zip(&verdicts) {
            self.count(args, historic, verdict)?;
        }
        for hash in page.unreadable {
            self.count_unreadable(args, hash);
        }
        self.progress
            .say(format!("{} messages", self.verified.messages));
        Ok(())
    }

    fn count(
        &mut self,
        args: &Args,
        historic: &HistoricMessage<'_>,
        verdict: &HistoryVerdict,
    ) -> Result<(), Failure> {
        let verified = &mut self.verified;
        let timestamp_ns = historic.message.timestamp_ns();
        verified.messages += 1;
        verified.first_ns.get_or_insert(timestamp_ns);
        verified.last_ns = Some(timestamp_ns);
        *verified.verdicts.entry(verdict.label()).or_default() += 1;
        if let HistoryVerdict::Valid {
            replaced_for_ns, ..
        } = verdict
        {
            verified.valid += 1;
            if let Some(replaced_ns) = replaced_for_ns {
                let replaced_s = replaced_ns / NS_PER_S;
                verified.valid_with_replaced_root += 1;
                verified.longest_replaced_s = verified.longest_replaced_s.max(replaced_s);
            }
            return Ok(());
        }
        if verified.offending.len() >= args.show {
            return Ok(());
        }
        let (first, commitment) = match verdict {
            HistoryVerdict::Repeated { first } => (Some(first), None),
            HistoryVerdict::DoubleSignal { first, secret } => {
                (Some(first), Some(secret.commitment()))
            }
            _ => (None, None),
        };
        let member = commitment.map(|commitment| self.membership.find(commitment));
        let member = member.transpose()?.flatten();
        self.verified.offending.push(Offending {
            hash: historic.hash.to_string(),
            verdict: verdict.label(),
            reason: verdict.to_string(),
            timestamp_ns: Some(timestamp_ns),
            content_topic: Some(historic.message.content_topic.to_string()),
            first: first.map(ToString::to_string),
            commitment: commitment.as_ref().map(element),
            member: member.map(|member| member.index.get()),
        });
        Ok(())
    }

    fn count_unreadable(&mut self, args: &Args, hash: MessageHash) {
        let verified = &mut self.verified;
        verified.messages += 1;
        *verified.verdicts.entry(UNREADABLE).or_default() += 1;
        if verified.offending.len() < args.show {
            verified.offending.push(Offending {
                hash: hash.to_string(),
                verdict: UNREADABLE,
                reason: "the store has no message for the hash, or one that cannot be read".into(),
                timestamp_ns: None,
                content_topic: None,
                first: None,
                commitment: None,
                member: None,
            });
        }
    }
}

/// Returns the shortest and the longest epoch, in seconds, for which all these messages would match the epochs of
/// their proofs. `None` if there is no such epoch, or if any message was not rejected for its epoch.
fn other_epoch_s(
    messages: &[HistoricMessage<'_>],
    verdicts: &[HistoryVerdict],
) -> Option<(u64, u64)> {
    let (mut least_s, mut most_s) = (1, u64::MAX);
    for (historic, verdict) in messages.iter().zip(verdicts) {
        let HistoryVerdict::Rejected(Rejection::Proof(ProofRejection::EpochMismatch {
            found, ..
        })) = verdict
        else {
            return None;
        };
        let at_s = u64::try_from(historic.message.timestamp_ns()).ok()? / NS_PER_S;
        least_s = least_s.max(at_s.checked_div(found.0.checked_add(1)?)? + 1);
        most_s = most_s.min(at_s.checked_div(found.0)?);
    }
    (!messages.is_empty() && least_s <= most_s).then_some((least_s, most_s))
}
