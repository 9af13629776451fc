//! A contract as a [`Registry`] that knows its newest roots and one member.

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

/// A contract whose newest roots are followed, until this is dropped.
///
/// It is for one member at most: the commitment that was looked up last, see [`Registry::find`].
#[derive(Debug)]
pub struct LightRegistry {
    contract: Contract,
    shared: Arc<Shared>,
    /// Ends with this.
    _worker: Background,
}

/// What the thread and its owner share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) view: Arc<Mutex<LightView>>,
    pub(super) signals: Signals,
    /// A commitment that the thread has not heard of yet.
    pub(super) watched: Mutex<Option<Fr>>,
}

impl LightRegistry {
    /// Starts to follow. What the store knows is there at once; everything else comes as endpoints
    /// answer, for which this does not wait. `first_block` and `range_blocks` do not matter.
    ///
    /// # Errors
    /// [`EvmError`]: the store, or URLs that are none. An endpoint that is out of order is no error.
    pub fn start(config: EvmConfig) -> Result<Self, EvmError> {
        // Announcements of every block cost more than they are worth here.
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

    /// The roots and the path as of the last block that is known. They move by themselves.
    pub fn view(&self) -> Arc<Mutex<LightView>> {
        Arc::clone(&self.shared.view)
    }

    /// How it goes.
    pub fn status(&self) -> Status {
        self.shared.signals.status()
    }

    /// Waits until `done`, or for `timeout`; gives the status then.
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

    /// What the contract said last, or [`RegistryError::NotAnswered`]. From now on the thread asks for
    /// this commitment, and for its path, and no longer for another that was looked up before.
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
