//! Figures of an attack: what it cost the honest nodes, and what it cost the adversaries.

use std::fmt;

use serde::Serialize;
use undertone_sim::Outcome;
use undertone_sim::outcome::{AttackOutcome, Delivery, MembershipOutcome, Message};

use super::{Latency, Sorted, Summary, by_message, latency_ms, median};
use crate::record::Table;

/// Latency above which a message counts as late, milliseconds: the deadline of the 2020 evaluation of `GossipSub`.
pub const DEADLINE_MS: f64 = 6_000.0;

/// Figures of an attack. Deliveries are those of messages that were published after it began.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttackSummary {
    /// Number of adversarial identities.
    pub identities: u32,
    /// Number of addresses that they share.
    pub addresses: u32,
    /// Time at which the first of them begins to misbehave, seconds.
    pub begins_s: f64,
    /// Share of the deliveries that a network without faults would make; 1 if no message was published.
    pub delivery_ratio: f64,
    /// Share of those deliveries that were made within 6 s.
    pub on_time_ratio: f64,
    /// Latency of the deliveries; `None` without any.
    pub latency_ms: Option<Latency>,
    /// Time from the beginning of the attack to the last message that was late or did not reach all nodes, seconds; 0
    /// if there was none, `None` if it was the last of all, so that the network has not recovered.
    pub recovered_after_s: Option<f64>,
    /// Lowest score that any node gave to an adversary at any time; `None` if no adversary was connected.
    pub lowest_adversary_score: Option<f64>,
    /// Largest share of mesh places that adversaries had in any second.
    pub mesh_share_max: f64,
    /// Largest number of honest peers, over all nodes, that had a score below 0 in any second.
    pub honest_below_zero_max: u64,
    /// Bytes that the adversaries sent on the wire.
    pub sent_bytes: u64,
    /// What they published with memberships; `None` if they published nothing.
    pub memberships: Option<MembershipSummary>,
}

/// What adversaries published with memberships, and what became of it. Messages are beyond the rate limit if another
/// message has their nullifier, but for the one of each nullifier that reached most nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MembershipSummary {
    /// Number of memberships used.
    pub used: u32,
    /// Number of those whose secret a node computed.
    pub exposed: u32,
    /// Number of messages published.
    pub published: u64,
    /// Number of messages that the rate limit allows: that of nullifiers.
    pub allowed: u64,
    /// Number of messages that some nodes delivered, and others did not.
    pub delivered_partly: u64,
    /// Share of nodes that delivered a message, over all that were delivered; `None` if none was.
    pub reach: Option<f64>,
    /// Number of messages beyond the rate limit that any node delivered.
    pub beyond_limit: u64,
    /// Share of nodes that delivered such a message, over all of them; `None` if there were none.
    pub beyond_limit_reach: Option<f64>,
    /// Number of deliveries to a node that had delivered another message of the nullifier.
    pub repeated_deliveries: u64,
    /// Largest number of nullifiers of adversaries that a node held at the end.
    pub nullifiers_held: u64,
}

impl MembershipSummary {
    fn new(outcome: &MembershipOutcome, nodes: usize) -> Self {
        let reach = |deliveries: u64, messages: u64| {
            (messages > 0).then(|| deliveries as f64 / (messages as f64 * nodes as f64))
        };
        Self {
            used: outcome.memberships,
            exposed: outcome.exposed,
            published: outcome.published,
            allowed: outcome.nullifiers,
            delivered_partly: outcome.delivered_partly,
            reach: reach(outcome.deliveries, outcome.delivered),
            beyond_limit: outcome.beyond_limit,
            beyond_limit_reach: reach(outcome.beyond_limit_deliveries, outcome.beyond_limit),
            repeated_deliveries: outcome.repeated_deliveries,
            nullifiers_held: outcome.nullifiers_held,
        }
    }
}

impl fmt::Display for MembershipSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} memberships published {} messages, where {} are allowed; {} were exposed",
            self.used, self.published, self.allowed, self.exposed
        )?;
        writeln!(
            f,
            "{} messages reached some nodes only; a node held {} of their nullifiers at the end",
            self.delivered_partly, self.nullifiers_held
        )?;
        let Some(reach) = self.beyond_limit_reach else {
            return Ok(());
        };
        writeln!(
            f,
            "{} messages beyond the limit reached {:.0} % of the nodes each; {} times a node delivered two of a \
             nullifier",
            self.beyond_limit,
            reach * 100.0,
            self.repeated_deliveries
        )
    }
}

impl AttackSummary {
    pub(super) fn new(outcome: &Outcome) -> Option<Self> {
        let attack = outcome.attack.as_deref()?;
        let under_attack =
            |message: &Message| !message.warm_up && message.published_ns >= attack.begins_ns;
        let per_message = outcome.expected as f64 / outcome.messages.len().max(1) as f64;
        let (mut latencies, mut expected) = (Vec::new(), 0.0);
        let is_any_lost = (outcome.deliveries.len() as u64) < outcome.expected;
        let (mut last_late_ns, mut is_last_late) = (None, false);
        for (message, deliveries) in
            by_message(outcome).filter(|(message, _)| under_attack(message))
        {
            expected += per_message;
            latencies.extend(
                deliveries
                    .iter()
                    .map(|delivery| latency_ms(message, delivery)),
            );
            let is_late = |delivery: &Delivery| latency_ms(message, delivery) > DEADLINE_MS;
            let is_lost = is_any_lost && (deliveries.len() as f64) < per_message.floor();
            is_last_late = is_lost || deliveries.iter().any(is_late);
            if is_last_late {
                last_late_ns = Some(message.published_ns);
            }
        }
        let ratio = |count: usize| match expected > 0.0 {
            true => count as f64 / expected,
            false => 1.0,
        };
        let on_time = latencies.iter().filter(|ms| **ms <= DEADLINE_MS).count();
        let after_s = |ns: u64| ns.saturating_sub(attack.begins_ns) as f64 / 1e9;
        Some(Self {
            identities: attack.identities,
            addresses: attack.addresses,
            begins_s: attack.begins_ns as f64 / 1e9,
            delivery_ratio: ratio(latencies.len()),
            on_time_ratio: ratio(on_time),
            latency_ms: Latency::of(&Sorted::new(latencies)),
            recovered_after_s: (!is_last_late).then(|| last_late_ns.map_or(0.0, after_s)),
            lowest_adversary_score: lowest_score(attack),
            mesh_share_max: mesh_shares(attack)
                .map(|[_, share]| share)
                .fold(0.0, f64::max),
            honest_below_zero_max: attack
                .watched
                .iter()
                .map(|second| second.honest_below_zero)
                .max()
                .unwrap_or(0),
            sent_bytes: attack.sent_bytes,
            memberships: attack
                .memberships
                .as_ref()
                .map(|used| MembershipSummary::new(used, outcome.nodes.len())),
        })
    }
}

/// Titles of the cells of [`AttackSummary::cells`].
pub(crate) const ATTACK_COLUMNS: [&str; 11] = [
    "delivered, %",
    "within 6 s, %",
    "p50, ms",
    "p99, ms",
    "recovered after, s",
    "mesh places of adversaries, %",
    "lowest score",
    "honest below 0",
    "identities",
    "addresses",
    "MB sent",
];

impl AttackSummary {
    /// Cells of a table that tell one attack: medians over its runs.
    pub(crate) fn cells(runs: &[&Self]) -> Vec<String> {
        let cell = |decimals: usize, of: &dyn Fn(&Self) -> f64| {
            let figure = median(runs.iter().map(|run| of(run))).unwrap_or(f64::NAN);
            match figure {
                f64::INFINITY => "not".to_owned(),
                figure if figure.is_nan() => "none".to_owned(),
                _ => format!("{figure:.decimals$}"),
            }
        };
        let latency = |of: fn(&Latency) -> f64| {
            cell(0, &|attack| attack.latency_ms.as_ref().map_or(f64::NAN, of))
        };
        vec![
            cell(2, &|attack| 100.0 * attack.delivery_ratio),
            cell(2, &|attack| 100.0 * attack.on_time_ratio),
            latency(|latency| latency.p50),
            latency(|latency| latency.p99),
            cell(0, &|attack| {
                attack.recovered_after_s.unwrap_or(f64::INFINITY)
            }),
            cell(1, &|attack| 100.0 * attack.mesh_share_max),
            cell(1, &|attack| {
                attack.lowest_adversary_score.unwrap_or(f64::NAN)
            }),
            cell(0, &|attack| attack.honest_below_zero_max as f64),
            cell(0, &|attack| f64::from(attack.identities)),
            cell(0, &|attack| f64::from(attack.addresses)),
            cell(1, &|attack| attack.sent_bytes as f64 / 1e6),
        ]
    }
}

/// Table of attacks, each row with the medians over some runs; `None` if no run has adversaries.
pub fn attack_table(rows: &[(String, &[Summary])]) -> Option<Table> {
    let columns = [&["run"][..], &ATTACK_COLUMNS].concat();
    let mut table = Table::new("Under attack: messages published after it began", &columns);
    for (name, runs) in rows {
        let attacks = runs.iter().filter_map(|run| run.attack.as_ref());
        let attacks: Vec<_> = attacks.collect();
        if !attacks.is_empty() {
            let mut cells = vec![name.clone()];
            cells.extend(AttackSummary::cells(&attacks));
            table.rows.push(cells);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn lowest_score(attack: &AttackOutcome) -> Option<f64> {
    let scores = attack
        .watched
        .iter()
        .map(|second| second.lowest_adversary_score);
    let lowest = scores.fold(f64::INFINITY, f64::min);
    lowest.is_finite().then_some(lowest)
}

/// Share of mesh places that adversaries had in each second, after the time in seconds.
pub fn mesh_shares(attack: &AttackOutcome) -> impl Iterator<Item = [f64; 2]> {
    (0..)
        .map(f64::from)
        .zip(&attack.watched)
        .map(|(at_s, second)| {
            let all = second.adversaries_in_meshes + second.honest_in_meshes;
            let share = second.adversaries_in_meshes as f64 / all.max(1) as f64;
            [at_s, share]
        })
}

impl fmt::Display for AttackSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nunder attack from {:.0} s by {} identities on {} addresses, which sent {:.1} MB",
            self.begins_s,
            self.identities,
            self.addresses,
            self.sent_bytes as f64 / 1e6
        )?;
        if self.latency_ms.is_none() && self.delivery_ratio == 1.0 {
            return writeln!(f, "no message was published after it began");
        }
        write!(
            f,
            "delivered {:.2} % ({:.2} % within 6 s)",
            self.delivery_ratio * 100.0,
            self.on_time_ratio * 100.0
        )?;
        if let Some(latency) = &self.latency_ms {
            write!(f, ", p50 {:.0} ms, p99 {:.0} ms", latency.p50, latency.p99)?;
        }
        match self.recovered_after_s {
            Some(0.0) => writeln!(f, "; no message was late or lost")?,
            Some(after_s) => writeln!(
                f,
                "; the last message late or lost came {after_s:.0} s after its begin"
            )?,
            None => writeln!(f, "; the network has not recovered")?,
        }
        write!(
            f,
            "adversaries had up to {:.1} % of the mesh places",
            self.mesh_share_max * 100.0
        )?;
        if let Some(score) = self.lowest_adversary_score {
            write!(f, " and scores of {score:.1} at least")?;
        }
        writeln!(
            f,
            "; up to {} honest peers had a score below 0",
            self.honest_below_zero_max
        )?;
        self.memberships.iter().try_for_each(|used| used.fmt(f))
    }
}
