//! What becomes of a node.

use undertone_sim::scenario::FaultKind;
use undertone_sim::{Plan, Scenario};

use crate::support::S;

/// Error of a clock from which nothing is expected of a node on such a network.
const SKEW_NS_MAX: i64 = 5 * S as i64;

/// A node after all faults.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    /// Whether it runs until the end.
    pub(super) lives: bool,
    /// Whether it announces messages that it sends to nobody.
    pub(super) is_silent: bool,
    /// Whether others close their connections to it, sooner or later.
    pub(super) is_banned: bool,
    pub(super) skew_ns: i64,
    /// Whether its clock is too wrong for the rate limit: it hears nobody, and is not heard.
    pub(super) is_deaf: bool,
    /// Probability that it loses a packet, in addition to the network's.
    pub(super) loss: f64,
    /// Fraction of its links' rate.
    pub(super) slow: f64,
}

impl Fate {
    pub(super) fn is_sound(&self) -> bool {
        self.lives && !self.is_banned
    }

    pub(super) fn receives(&self) -> bool {
        self.is_sound() && !self.is_deaf
    }

    pub(super) fn carries(&self) -> bool {
        self.receives() && !self.is_silent
    }
}

/// The fate of a node by the faults of a scenario.
pub(super) fn fate(scenario: &Scenario, plan: &Plan, node: u32) -> Fate {
    let starts_ns = plan.starts_ns(node);
    let mut fate = Fate {
        lives: plan.ends_ns(node).is_none(),
        slow: 1.0,
        ..Fate::default()
    };
    let mut faults: Vec<_> = scenario.faults.iter().collect();
    faults.sort_by_key(|fault| fault.at_ns);
    for fault in faults {
        if !plan.afflicted(fault).contains(&node) {
            continue;
        }
        let runs = fault.at_ns >= starts_ns;
        match fault.kind {
            FaultKind::Slow { factor } => fate.slow = factor,
            FaultKind::Lossy { loss } => fate.loss = loss,
            FaultKind::Silent => fate.is_silent = true,
            FaultKind::ClockSkew { by_ns } if runs => {
                fate.skew_ns = by_ns;
                fate.is_deaf = scenario.rln.is_some() && by_ns.abs() > SKEW_NS_MAX;
            }
            FaultKind::Spam { .. } if runs => fate.is_banned = scenario.rln.is_some(),
            _ => {}
        }
    }
    fate
}
