//! Messages known to be missing: when to report them, when to request them from the channel, and when they are lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use undertone_gossip::Time;

use super::repair::request_delay_ms;
use super::{CausalHistoryEntry, Id, SdsConfig};

#[derive(Debug)]
struct Gap {
    entry: CausalHistoryEntry,
    report_at: Time,
    /// `T_req` of SDS-Repair; [`Time::MAX`] without the extension.
    request_at: Time,
    lost_at: Time,
    /// Whether another member's request has already delayed the local member's. This happens only once per gap;
    /// otherwise a liar could keep the local member from ever asking.
    was_put_off: bool,
}

/// Missing messages, and the ids of those that are lost.
#[derive(Debug, Default)]
pub(super) struct MissingMessages {
    gaps: BTreeMap<Id, Gap>,
    next_report_at: Time,
    lost: BTreeSet<Id>,
    lost_order: VecDeque<Id>,
}

impl MissingMessages {
    pub(super) fn contains(&self, id: &str) -> bool {
        self.gaps.contains_key(id)
    }

    pub(super) fn len(&self) -> usize {
        self.gaps.len()
    }

    pub(super) fn is_lost(&self, id: &str) -> bool {
        self.lost.contains(id)
    }

    /// Records a gap, or adds new details from the entry to a known one.
    pub(super) fn add(
        &mut self,
        now: Time,
        entry: &CausalHistoryEntry,
        config: &SdsConfig,
        rng: &mut ChaCha8Rng,
    ) {
        if self.is_lost(&entry.message_id) {
            return;
        }
        if let Some(gap) = self.gaps.get_mut(&entry.message_id) {
            let known = &mut gap.entry;
            if known.retrieval_hint.is_none() {
                known.retrieval_hint.clone_from(&entry.retrieval_hint);
            }
            if known.sender_id.is_none() {
                known.sender_id.clone_from(&entry.sender_id);
            }
            return;
        }
        if config.limits.max_missing == 0 {
            return;
        }
        if self.gaps.len() >= config.limits.max_missing {
            // Neither the newest nor the oldest: a flood of invented ids must not be able to choose which gap is
            // dropped.
            let victim = rng.next_u64() % self.gaps.len() as u64;
            if let Some(id) = self.gaps.keys().nth(victim as usize).cloned() {
                self.gaps.remove(&id);
            }
        }
        let gap = Gap {
            entry: entry.clone(),
            report_at: now.after(Duration::from_millis(config.missing_report_ms)),
            request_at: request_time(now, &entry.message_id, config),
            lost_at: now.after(Duration::from_millis(config.lost_after_ms)),
            was_put_off: false,
        };
        self.gaps.insert(entry.message_id.clone(), gap);
    }

    /// Removes a message that arrived.
    pub(super) fn found(&mut self, id: &str) {
        self.gaps.remove(id);
        if self.lost.remove(id) {
            self.lost_order.retain(|lost| &**lost != id);
        }
    }

    /// Declares messages lost, and returns those that were not lost before.
    pub(super) fn lose(&mut self, ids: impl IntoIterator<Item = Id>, max: usize) -> Vec<Id> {
        let mut new = Vec::new();
        for id in ids {
            self.gaps.remove(&id);
            if self.lost.insert(id.clone()) {
                self.lost_order.push_back(id.clone());
                new.push(id);
            }
        }
        while self.lost.len() > max {
            if let Some(id) = self.lost_order.pop_front() {
                self.lost.remove(&id);
            }
        }
        new
    }

    /// Returns the ids of the messages that now count as lost.
    pub(super) fn overdue(&self, now: Time) -> Vec<Id> {
        let overdue = self.gaps.iter().filter(|(_, gap)| gap.lost_at <= now);
        overdue.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the gaps to report now, the longest overdue first and at most as many as fit one report. The next
    /// report is due no earlier than [`SdsConfig::missing_report_ms`] later, whatever others send.
    pub(super) fn report(&mut self, now: Time, config: &SdsConfig) -> Vec<CausalHistoryEntry> {
        if now < self.next_report_at {
            return Vec::new();
        }
        let mut due: Vec<&mut Gap> = self
            .gaps
            .values_mut()
            .filter(|gap| gap.report_at <= now)
            .collect();
        if due.is_empty() {
            return Vec::new();
        }
        self.next_report_at = now.after(Duration::from_millis(config.missing_report_ms.max(1)));
        due.sort_by_key(|gap| gap.report_at);
        due.truncate(config.limits.max_missing_report);
        let again_at = now.after(Duration::from_millis(config.missing_again_ms.max(1)));
        let report = due.into_iter().map(|gap| {
            gap.report_at = again_at;
            gap.entry.clone()
        });
        report.collect()
    }

    /// Returns the repair requests that are due, the earliest first. A request is due again after a further delay,
    /// since the message that carries it may be lost.
    pub(super) fn requests(&mut self, now: Time, config: &SdsConfig) -> Vec<CausalHistoryEntry> {
        let mut due: Vec<&mut Gap> = self
            .gaps
            .values_mut()
            .filter(|gap| gap.request_at <= now)
            .collect();
        due.sort_by_key(|gap| gap.request_at);
        due.truncate(config.limits.max_repair_requests);
        let requests = due.into_iter().map(|gap| {
            gap.request_at = request_time(now, &gap.entry.message_id, config);
            gap.entry.clone()
        });
        requests.collect()
    }

    /// Delays the request for a message that another member requests.
    pub(super) fn put_off(&mut self, now: Time, id: &str, config: &SdsConfig) {
        if let Some(gap) = self.gaps.get_mut(id)
            && !gap.was_put_off
        {
            gap.was_put_off = true;
            gap.request_at = request_time(now, id, config);
        }
    }

    /// Returns the earliest time of a repair request.
    pub(super) fn next_request(&self) -> Option<Time> {
        let times = self.gaps.values().map(|gap| gap.request_at);
        times.min().filter(|at| *at < Time::MAX)
    }

    /// Returns the earliest time of a report or loss.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let times = self.gaps.values().map(|gap| {
            let report_at = gap.report_at.max(self.next_report_at);
            report_at.min(gap.lost_at)
        });
        times.min()
    }

    #[cfg(test)]
    pub(super) fn lost_len(&self) -> usize {
        self.lost.len()
    }
}

fn request_time(now: Time, id: &str, config: &SdsConfig) -> Time {
    let Some(timing) = &config.repair else {
        return Time::MAX;
    };
    let delay_ms = request_delay_ms(timing, &config.participant_id, id);
    now.after(Duration::from_millis(delay_ms.max(1)))
}
