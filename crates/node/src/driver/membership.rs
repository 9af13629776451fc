//! Thread that follows the registry, saves the membership view, and watches the node's own membership.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use undertone_membership::{RegistryError, Version, View};

use super::membership_source::MembershipSource;
use super::rln::{Joining, Publisher, RlnEvent, Standing};
use crate::command::MembershipSnapshot;

/// Interval at which the registry is asked for changes.
const POLL: Duration = Duration::from_millis(250);

/// Interval at which a changing view is saved. A node that ends without saving reads the later
/// changes from the registry.
const SAVE_EVERY: Duration = Duration::from_secs(600);

/// State of the thread that follows the registry.
pub(super) struct Follower {
    pub(super) source: MembershipSource,
    pub(super) joining: Option<Joining>,
    pub(super) events: mpsc::UnboundedSender<RlnEvent>,
}

/// The event loop has ended.
struct Ended;

impl Follower {
    /// Runs until `stopped` is closed, then saves the view.
    pub(super) fn run(mut self, stopped: &Receiver<()>) {
        let mut failing = false;
        let mut told = None;
        let mut looking = false;
        let mut saved = None;
        let mut saved_at = Instant::now();
        loop {
            match self.refresh() {
                Ok(_) => failing = false,
                Err(error) if !failing => {
                    failing = true;
                    tracing::error!(%error, "cannot read the membership registry; will keep trying");
                }
                Err(_) => {}
            }
            let outcome = self.tell(&mut told).and_then(|news| {
                looking |= news;
                match looking {
                    true => self.look(),
                    false => Ok(false),
                }
            });
            match outcome {
                Ok(again) => looking = again,
                Err(Ended) => break,
            }
            if saved_at.elapsed() >= SAVE_EVERY {
                saved_at = Instant::now();
                self.save(&mut saved);
            }
            match stopped.recv_timeout(POLL) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => break,
            }
        }
        self.save(&mut saved);
    }

    /// Applies the changes of the log since the last call. The registry's own thread does so with any other
    /// view.
    fn refresh(&self) -> Result<bool, RegistryError> {
        match &self.source {
            MembershipSource::Log { log, view, .. } => lock(view).refresh(&**log),
            MembershipSource::Updated(_) => Ok(false),
        }
    }

    /// Sends the membership state to the event loop if it is new; returns whether it was. The revision is
    /// compared and not the version, because a reorganised chain may reach the same version again.
    fn tell(&mut self, told: &mut Option<u64>) -> Result<bool, Ended> {
        let (roots, now) = {
            let view = lock(self.source.view());
            if told.replace(view.revision()) == Some(view.revision()) {
                return Ok(false);
            }
            (view.roots().clone(), snapshot(&*view))
        };
        let event = RlnEvent::Membership { roots, now };
        self.events.send(event).map_err(|_| Ended)?;
        Ok(true)
    }

    /// Checks the node's own membership; returns whether to check again soon.
    fn look(&mut self) -> Result<bool, Ended> {
        let Some(joining) = &mut self.joining else {
            return Ok(false);
        };
        let (event, again) = match joining() {
            Standing::Same => return Ok(false),
            Standing::Ending => return Ok(true),
            Standing::Left => (RlnEvent::Left, true),
            Standing::Joined(source) => match Publisher::start(source, self.events.clone()) {
                Ok(publisher) => (RlnEvent::Joined(publisher), false),
                Err(error) => {
                    tracing::error!(%error, "cannot start a thread for proofs");
                    return Ok(false);
                }
            },
        };
        self.events.send(event).map_err(|_| Ended)?;
        Ok(again)
    }

    /// Saves the view if it has changed since the last save. The copy lets the lock go while
    /// the disk is busy.
    fn save(&self, saved: &mut Option<Version>) {
        let MembershipSource::Log {
            log,
            view,
            snapshot_file: Some(path),
        } = &self.source
        else {
            return;
        };
        let view = lock(view).clone();
        if view.version() == Version::default() || *saved == Some(view.version()) {
            return;
        }
        match view.save(path, log.id()) {
            Ok(()) => *saved = Some(view.version()),
            Err(error) => {
                tracing::warn!(%error, "cannot save the membership tree; the next start will rebuild it");
            }
        }
    }
}

/// The size of the membership set in numbers.
pub(super) fn snapshot(view: &dyn View) -> MembershipSnapshot {
    MembershipSnapshot {
        version: view.version().map(|version| version.0),
        members: view.members(),
        roots: view.roots().len(),
    }
}

pub(super) fn lock<V: View + ?Sized>(view: &Mutex<V>) -> MutexGuard<'_, V> {
    // A refresh that panicked leaves the last consistent version; the next one continues from it.
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
