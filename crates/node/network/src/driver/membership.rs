//! Thread that follows the registry, saves the membership view, and watches the node's own membership.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use undertone_membership::{RegistryError, Version, View};

use super::membership_source::MembershipSource;
use super::rln::{MembershipProbe, MembershipState, RlnEvent};
use crate::command::MembershipSnapshot;

/// Interval at which the registry is polled for changes.
const POLL: Duration = Duration::from_millis(250);

/// Interval at which a changing view is saved. A node that ends without saving reads later changes from the registry
/// again.
const SAVE_EVERY: Duration = Duration::from_secs(600);

/// State of the thread that follows the registry.
pub(super) struct MembershipThread {
    pub(super) source: MembershipSource,
    pub(super) probe: Option<MembershipProbe>,
    pub(super) events: mpsc::UnboundedSender<RlnEvent>,
}

/// Sign that the event loop has ended.
struct Ended;

impl MembershipThread {
    /// Runs until `stopped` is closed, then saves the view.
    pub(super) fn run(mut self, stopped: &Receiver<()>) {
        let mut failing = false;
        let mut told = None;
        let mut polls = false;
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
                polls |= news;
                if polls { self.poll() } else { Ok(false) }
            });
            match outcome {
                Ok(again) => polls = again,
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

    /// Applies the changes of the log since the last call. Other views are updated by the registry's own thread.
    fn refresh(&self) -> Result<bool, RegistryError> {
        match &self.source {
            MembershipSource::Log { log, view, .. } => view.lock().refresh(&**log),
            MembershipSource::Updated(_) => Ok(false),
        }
    }

    /// Sends the membership state to the event loop if it is new; returns whether it was. Compares the revision and not
    /// the version, because a reorganised chain may reach the same version again.
    fn tell(&mut self, told: &mut Option<u64>) -> Result<bool, Ended> {
        let (roots, now) = {
            let view = self.source.view().lock();
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
    fn poll(&mut self) -> Result<bool, Ended> {
        let Some(probe) = &mut self.probe else {
            return Ok(false);
        };
        let (event, again) = match probe() {
            MembershipState::Unchanged => return Ok(false),
            MembershipState::Ending => return Ok(true),
            MembershipState::Left => (RlnEvent::Left, true),
            MembershipState::Joined(source) => (RlnEvent::Joined(source), false),
        };
        self.events.send(event).map_err(|_| Ended)?;
        Ok(again)
    }

    /// Saves the view if it has changed since the last save. Copying it first releases the lock during the disk write.
    fn save(&self, saved: &mut Option<Version>) {
        let MembershipSource::Log {
            log,
            view,
            snapshot_file: Some(path),
        } = &self.source
        else {
            return;
        };
        let view = view.lock().clone();
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

/// Returns the size of the membership set in numbers.
pub(super) fn snapshot(view: &dyn View) -> MembershipSnapshot {
    MembershipSnapshot {
        version: view.version().map(|version| version.0),
        members: view.members(),
        roots: view.roots().len(),
    }
}
