//! Registry of a contract in full mode: a log of members, followed by a background thread.

use std::sync::Arc;

use parking_lot::Mutex;
use undertone_rln::Fr;

use super::config::EvmConfig;
use super::error::EvmError;
use super::follow::{Follower, Range};
use super::handle::ChainHandle;
use super::store::Store;
use super::worker::Worker;
use crate::registry::{
    Change, DatedChange, DatedLog, Member, MemberLookup, MembershipLog, RegistryError, RegistryId,
    Version,
};
use crate::view::MembershipView;

/// Registry that follows a contract in full, in a background thread that ends with the registry and
/// the last clone of its handle.
#[derive(Debug)]
pub struct EvmRegistry {
    id: RegistryId,
    store: Arc<Store>,
    view: Arc<Mutex<MembershipView>>,
    chain: ChainHandle,
}

impl EvmRegistry {
    /// Starts to follow the contract. The state in the store is available at once; newer state
    /// arrives as endpoints answer, which this call does not wait for.
    ///
    /// # Errors
    /// [`EvmError`], when the store cannot be opened, a URL is invalid or missing, or no thread can
    /// be started. An endpoint that does not work is not an error.
    pub fn start(config: EvmConfig) -> Result<Self, EvmError> {
        let endpoints = config.endpoints(true)?;
        let before_first = config.first_block.unwrap_or(1).saturating_sub(1);
        let store = Arc::new(Store::open(&config.store, &config.contract, before_first)?);
        let view = Arc::new(Mutex::new(MembershipView::new(config.window)));
        let (start, most) = config.range_blocks;
        let range = Range::new(start, most);
        let follower = Follower::new(Arc::clone(&store), Arc::clone(&view), range)?;
        let chain = ChainHandle::start(endpoints, move |session| {
            Worker {
                session,
                follower,
                poll: config.poll,
                throttle: config.throttle,
            }
            .run();
        })?;
        Ok(Self {
            id: config.contract.registry_id(),
            store,
            view,
            chain,
        })
    }

    /// Returns the membership as of the last known block; the background thread keeps updating it.
    pub fn view(&self) -> Arc<Mutex<MembershipView>> {
        Arc::clone(&self.view)
    }

    /// Returns the handle of the thread that follows the chain.
    pub fn chain(&self) -> &ChainHandle {
        &self.chain
    }

    /// Returns all present members, ordered by index.
    ///
    /// # Errors
    /// [`RegistryError::Storage`] when the store cannot be read.
    pub fn members(&self) -> Result<Vec<Member>, RegistryError> {
        Ok(self.store.members()?)
    }
}

impl MembershipLog for EvmRegistry {
    /// Derived from the chain id and the contract's address. A reorganisation may undo part of the log, so
    /// views of it are kept in the store, not in a snapshot.
    fn id(&self) -> RegistryId {
        self.id
    }

    fn version(&self) -> Result<Version, RegistryError> {
        Ok(self.store.version()?)
    }

    fn changes_since(&self, known: Version, most: usize) -> Result<Vec<Change>, RegistryError> {
        let dated = self.store.changes(known, most)?;
        Ok(dated.into_iter().map(|dated| dated.change).collect())
    }
}

impl DatedLog for EvmRegistry {
    /// The moment of a change is the height of its block; [`super::BlockTimes`] returns the time of a block.
    fn dated_changes_since(
        &self,
        known: Version,
        most: usize,
    ) -> Result<Vec<DatedChange>, RegistryError> {
        Ok(self.store.changes(known, most)?)
    }
}

impl MemberLookup for EvmRegistry {
    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError> {
        Ok(self.store.find(commitment)?)
    }
}
