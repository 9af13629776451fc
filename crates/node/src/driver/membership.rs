//! The thread that follows the registry, saves what it has learnt, and sees when we become a member.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use undertone_membership::{Registry, Version, View};

use super::rln::{Joining, Publisher, RlnEvent};
use crate::command::MembershipSnapshot;

/// How often the registry is asked for changes.
const POLL: Duration = Duration::from_millis(250);

/// How often the view is saved while it changes. A node that ends without saving reads the changes
/// since from the registry.
const SAVE_EVERY: Duration = Duration::from_secs(600);

/// What the thread works with.
pub(super) struct Follower {
    pub(super) registry: Arc<dyn Registry>,
    pub(super) view: Arc<Mutex<dyn View>>,
    pub(super) snapshot_file: Option<PathBuf>,
    pub(super) joining: Option<Joining>,
    pub(super) events: mpsc::UnboundedSender<RlnEvent>,
}

/// The event loop is gone.
struct Ended;

impl Follower {
    /// Runs until `stopped` is closed, then saves the view.
    pub(super) fn run(mut self, stopped: &Receiver<()>) {
        let mut failing = false;
        let mut told = None;
        let mut saved = None;
        let mut saved_at = Instant::now();
        loop {
            // Taken apart from what follows: the lock is not held while that is done.
            let refreshed = lock(&self.view).refresh(&*self.registry);
            match refreshed {
                Ok(_) => failing = false,
                Err(error) if !failing => {
                    failing = true;
                    tracing::error!(%error, "cannot read the membership registry; will keep trying");
                }
                Err(_) => {}
            }
            if self.tell(&mut told).is_err() {
                break;
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

    /// Tells the event loop of a state that it has not heard of. The version alone does not say: a
    /// chain may be reorganised and come to the same number.
    fn tell(&mut self, told: &mut Option<u64>) -> Result<(), Ended> {
        let (roots, now) = {
            let view = lock(&self.view);
            if told.replace(view.revision()) == Some(view.revision()) {
                return Ok(());
            }
            let roots = view.roots().clone();
            let now = MembershipSnapshot {
                version: view.version().map(|version| version.0),
                members: view.members(),
                roots: roots.len(),
            };
            (roots, now)
        };
        let event = RlnEvent::Membership { roots, now };
        self.events.send(event).map_err(|_| Ended)?;
        if let Some(source) = self.joining.as_mut().and_then(|joining| joining()) {
            match Publisher::start(source, self.events.clone()) {
                Ok(publisher) => {
                    self.joining = None;
                    let event = RlnEvent::Joined(publisher);
                    self.events.send(event).map_err(|_| Ended)?;
                }
                Err(error) => tracing::error!(%error, "cannot start a thread for proofs"),
            }
        }
        Ok(())
    }

    /// Saves a view that is not saved already. The copy lets the lock go while the disk is busy.
    fn save(&self, saved: &mut Option<Version>) {
        let Some(path) = &self.snapshot_file else {
            return;
        };
        let Some(view) = lock(&self.view).copy() else {
            return;
        };
        if view.version() == Version::default() || *saved == Some(view.version()) {
            return;
        }
        match view.save(path, self.registry.id()) {
            Ok(()) => *saved = Some(view.version()),
            Err(error) => {
                tracing::warn!(%error, "cannot save the membership tree; the next start builds it");
            }
        }
    }
}

pub(super) fn lock(view: &Mutex<dyn View>) -> MutexGuard<'_, dyn View + 'static> {
    // A refresh that panicked leaves the last whole version; the next one carries on from it.
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
