//! Pool of tokens prepared in advance.
//!
//! The pool decides which tokens to prepare and which are still usable. It is sans-IO: the owner calls
//! [`Pool::next_work`], prepares the token on a separate thread, and calls [`Pool::insert`].
//!
//! The pool never blocks a send. [`Pool::take`] returns the token for the message id just reserved,
//! or returns at once without one; the sender then makes a full proof.
//!
//! Tokens do not use up message ids. They are prepared for the ids that will be reserved next, in this
//! epoch and, from [`PoolConfig::next_epoch_lead_ns`] before its start, in the next one. A token whose
//! root has aged by [`PoolConfig::refresh_roots`] is prepared again, and stays usable until then. A
//! token whose root receivers no longer accept is dropped.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::counter::Reserved;
use crate::epoch::Epoch;
use crate::token::{PreparedToken, Token};

/// Number of tokens to prepare, and limits on their age and cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolConfig {
    /// Number of tokens to have ready in each epoch; 0 switches the pool off.
    pub size: usize,
    /// Number of root changes after which a token is prepared again.
    pub refresh_roots: u64,
    /// Number of root changes after which a token is dropped: the network's root window.
    pub root_window: u64,
    /// Time before an epoch's start from which the epoch's tokens may be prepared.
    pub next_epoch_lead_ns: u64,
    /// Maximum share of one processor's time, in percent; 0 is read as 1, and more than 100 as 100.
    pub max_cpu_percent: u8,
}

impl Default for PoolConfig {
    /// Returns eight tokens, prepared again after half of a root window of 50, using at most a tenth of
    /// one processor; those of the next epoch from one minute before its start.
    fn default() -> Self {
        Self {
            size: 8,
            refresh_roots: 25,
            root_window: 50,
            next_epoch_lead_ns: 60_000_000_000,
            max_cpu_percent: 10,
        }
    }
}

/// Inputs of the pool: clock, epoch, counter and tree. Times are Unix times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolInputs {
    /// Present Unix time, nanoseconds.
    pub now_ns: u64,
    /// Epoch to which messages sent now belong.
    pub epoch: Epoch,
    /// Unix time at which the next epoch starts, nanoseconds.
    pub next_epoch_at_ns: u64,
    /// Message id that the counter would reserve next in this epoch, see
    /// [`crate::MessageIdCounter::upcoming`]; `None` if it would issue none.
    pub upcoming: Option<u32>,
    /// The member's limit; message ids are less than it.
    pub limit: u32,
    /// Number of changes of the tree's root so far.
    pub root_version: u64,
}

/// Next work for the owner of a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Prepare a token with the present Merkle path, then call [`Pool::insert`].
    Prepare {
        /// Epoch of the token.
        epoch: Epoch,
        /// Message id of the token.
        message_id: u32,
    },
    /// Ask again at a later time: there is work, but the share of processor time is used up.
    WaitUntil {
        /// Unix time in nanoseconds.
        at_ns: u64,
    },
    /// All wanted tokens are ready. Ask again when a token was taken, the root or the epoch has
    /// changed, or the next epoch is near.
    Idle,
}

/// State and totals of a pool, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PoolSnapshot {
    /// Number of tokens in the pool.
    pub ready: usize,
    /// Number of tokens put into the pool.
    pub prepared_total: u64,
    /// Number of tokens handed out.
    pub taken_total: u64,
    /// Number of sends that found no token.
    pub missed_total: u64,
    /// Number of tokens dropped unused: replaced, skipped, of a past epoch, or with a root that is too
    /// old.
    pub discarded_total: u64,
    /// Time spent preparing the added tokens, nanoseconds.
    pub spent_ns_total: u64,
}

/// Pool of prepared tokens, by epoch and message id.
#[derive(Debug)]
pub struct Pool<T = PreparedToken> {
    config: PoolConfig,
    ready: BTreeMap<(Epoch, u32), ReadyToken<T>>,
    /// Time before which no token is prepared, Unix nanoseconds.
    rest_until_ns: u64,
    totals: PoolSnapshot,
}

#[derive(Debug)]
struct ReadyToken<T> {
    token: T,
    root_version: u64,
}

impl<T> Pool<T> {
    /// Creates an empty pool.
    pub fn new(config: PoolConfig) -> Self {
        Self {
            config,
            ready: BTreeMap::new(),
            rest_until_ns: 0,
            totals: PoolSnapshot::default(),
        }
    }

    /// Drops unusable tokens and returns which token to prepare: missing tokens before those with old
    /// roots, this epoch's before the next epoch's, low ids before high ones.
    pub fn next_work(&mut self, around: &PoolInputs) -> Work {
        self.drop_useless(around);
        let Some((epoch, message_id)) = self.most_wanted(around) else {
            return Work::Idle;
        };
        if around.now_ns < self.rest_until_ns {
            return Work::WaitUntil {
                at_ns: self.rest_until_ns,
            };
        }
        Work::Prepare { epoch, message_id }
    }

    /// Adds a token that was prepared for the root of `root_version` in `spent_ns`, ending at `now_ns`.
    ///
    /// `spent_ns` counts against [`PoolConfig::max_cpu_percent`]: the pool then rests in proportion.
    pub fn insert(
        &mut self,
        (epoch, message_id): (Epoch, u32),
        root_version: u64,
        token: T,
        spent_ns: u64,
        now_ns: u64,
    ) {
        self.totals.prepared_total += 1;
        self.totals.spent_ns_total = self.totals.spent_ns_total.saturating_add(spent_ns);
        let ready = ReadyToken {
            token,
            root_version,
        };
        if self.ready.insert((epoch, message_id), ready).is_some() {
            self.totals.discarded_total += 1;
        }
        let percent = u64::from(self.config.max_cpu_percent.clamp(1, 100));
        let rest_ns = spent_ns.saturating_mul(100 - percent) / percent;
        self.rest_until_ns = now_ns.saturating_add(rest_ns);
    }

    /// Returns the present state and totals.
    pub fn snapshot(&self) -> PoolSnapshot {
        PoolSnapshot {
            ready: self.ready.len(),
            ..self.totals
        }
    }

    /// Takes the token of a message id out; `None` if there is none or the token's root is too old.
    fn remove(&mut self, key: (Epoch, u32), root_version: u64) -> Option<T> {
        let found = self.ready.remove(&key);
        match found {
            Some(ready) if self.age(&ready, root_version) < self.config.root_window => {
                self.totals.taken_total += 1;
                Some(ready.token)
            }
            old => {
                self.totals.discarded_total += u64::from(old.is_some());
                self.totals.missed_total += 1;
                None
            }
        }
    }

    fn age(&self, ready: &ReadyToken<T>, root_version: u64) -> u64 {
        root_version.saturating_sub(ready.root_version)
    }

    fn drop_useless(&mut self, around: &PoolInputs) {
        let window = self.config.root_window;
        let before = self.ready.len();
        self.ready.retain(|(epoch, message_id), ready| {
            let too_old = around.root_version.saturating_sub(ready.root_version) >= window;
            let passed = *epoch < around.epoch
                || *epoch == around.epoch
                    && around
                        .upcoming
                        .is_none_or(|upcoming| *message_id < upcoming);
            !too_old && !passed
        });
        self.totals.discarded_total += (before - self.ready.len()) as u64;
    }

    fn most_wanted(&self, around: &PoolInputs) -> Option<(Epoch, u32)> {
        let size = u32::try_from(self.config.size).unwrap_or(u32::MAX);
        let ids = |first: u32| first..first.saturating_add(size).min(around.limit);
        let now = around
            .upcoming
            .into_iter()
            .flat_map(|first| ids(first).map(|id| (around.epoch, id)));
        let lead_from = around
            .next_epoch_at_ns
            .saturating_sub(self.config.next_epoch_lead_ns);
        let next_epoch = around.epoch.0.checked_add(1).map(Epoch);
        let next = next_epoch
            .filter(|_| around.now_ns >= lead_from)
            .into_iter()
            .flat_map(|epoch| ids(0).map(move |id| (epoch, id)));
        let stale = |key: &(Epoch, u32)| {
            let ready = self.ready.get(key);
            ready.is_some_and(|ready| {
                self.age(ready, around.root_version) >= self.config.refresh_roots
            })
        };
        let mut wanted = now.chain(next);
        let missing = wanted.clone().find(|key| !self.ready.contains_key(key));
        missing.or_else(|| wanted.find(stale))
    }
}

impl Pool<PreparedToken> {
    /// Takes the token for a reserved message id.
    ///
    /// # Errors
    /// Returns the reserved id, for a full proof, when no token is ready or the token's root is too old.
    pub fn take(&mut self, reserved: Reserved, root_version: u64) -> Result<Token, Reserved> {
        let key = (reserved.epoch(), reserved.message_id());
        match self.remove(key, root_version) {
            Some(prepared) => prepared.arm(reserved).map_err(|other| other.returned.1),
            None => Err(reserved),
        }
    }
}

#[cfg(test)]
#[path = "tests/pool.rs"]
mod tests;
