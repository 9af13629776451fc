//! Contract as a [`Registry`] that knows only its newest roots and one member.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use undertone_rln::Fr;

use super::follow::Follower;
use super::pace::Pace;
use super::store::Store;
use super::view::LightView;
use super::worker::Worker;
use crate::evm::background::Background;
use crate::evm::chain::Contract;
use crate::evm::health::Status;
use crate::evm::registry::{EvmConfig, EvmError, endpoints, id};
use crate::evm::signals::{Signals, lock};
use crate::registry::{Change, Member, MemberIndex, Registry, RegistryError, RegistryId, Version};

/// Registry that follows a contract's newest roots, in a background thread, until it is dropped.
///
/// The registry knows one member at most: the commitment looked up last, see [`Registry::find`].
#[derive(Debug)]
pub struct LightRegistry {
    contract: Contract,
    shared: Arc<Shared>,
    /// Background thread, stopped when the registry is dropped.
    _worker: Background,
}

/// State shared between the background thread and its owner.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) view: Arc<Mutex<LightView>>,
    pub(super) signals: Signals,
    /// A looked-up commitment that the thread has not taken yet.
    pub(super) watched: Mutex<Option<Fr>>,
}

impl LightRegistry {
    /// Starts to follow the contract. The state in the store is available at once; newer state
    /// arrives as endpoints answer, which this call does not wait for. `first_block` and
    /// `range_blocks` are not used.
    ///
    /// # Errors
    /// [`EvmError`], when the store cannot be opened, a URL is invalid or missing, or no thread can
    /// be started. An endpoint that does not work is not an error.
    pub fn start(config: EvmConfig) -> Result<Self, EvmError> {
        // In light mode, announcements of every block cost more than they are worth.
        let endpoints = endpoints(&config, false)?;
        let store = Arc::new(Store::open(&config.store, &config.contract)?);
        let view = LightView::of(store.load()?, config.window);
        let view = Arc::new(Mutex::new(view));
        let follower = Follower::new(store, Arc::clone(&view));
        let shared = Arc::new(Shared {
            view,
            signals: Signals::new(),
            watched: Mutex::new(None),
        });
        let known = Arc::clone(&shared);
        let worker = Background::start(move |stop| {
            Worker {
                shared: known,
                follower,
                endpoints,
                pace: Pace::new(config.poll, config.throttle),
                stop,
            }
            .run();
        })?;
        Ok(Self {
            contract: config.contract,
            shared,
            _worker: worker,
        })
    }

    /// Returns the roots and the path as of the last known block; the background thread
    /// keeps updating them.
    pub fn view(&self) -> Arc<Mutex<LightView>> {
        Arc::clone(&self.shared.view)
    }

    /// Returns the status of the follower.
    pub fn status(&self) -> Status {
        self.shared.signals.status()
    }

    /// Waits until the status satisfies `done` or `timeout` has passed; returns the status then.
    pub fn wait_until(&self, timeout: Duration, done: impl Fn(&Status) -> bool) -> Status {
        self.shared.signals.wait_until(timeout, done)
    }
}

impl Registry for LightRegistry {
    fn id(&self) -> RegistryId {
        id(&self.contract)
    }

    fn register(&self, _: Fr, _: u32) -> Result<MemberIndex, RegistryError> {
        Err(RegistryError::ReadOnly)
    }

    fn remove(&self, _: MemberIndex) -> Result<(), RegistryError> {
        Err(RegistryError::ReadOnly)
    }

    /// Returns the contract's last answer, or [`RegistryError::NotAnswered`]. From now on the
    /// thread asks for this commitment and its path, instead of the one that was looked up before.
    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError> {
        *lock(&self.shared.watched) = Some(commitment);
        let answer = lock(&self.shared.view).membership(commitment);
        answer.ok_or(RegistryError::NotAnswered)
    }

    fn members(&self) -> Result<Vec<Member>, RegistryError> {
        Err(RegistryError::NotKept { what: "members" })
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Err(RegistryError::NotKept { what: "a version" })
    }

    fn changes_since(&self, _: Version, _: usize) -> Result<Vec<Change>, RegistryError> {
        Err(RegistryError::NotKept { what: "changes" })
    }

    fn hurry(&self) {
        self.shared.signals.want();
    }

    fn chain(&self) -> Option<Status> {
        Some(self.status())
    }

    fn trouble(&self) -> Option<String> {
        self.status().trouble()
    }
}
