//! Registry of a contract in light mode: only the newest roots and one member are known.

use std::sync::Arc;

use parking_lot::Mutex;
use undertone_rln::Fr;

use super::follow::LightFollower;
use super::pace::Pace;
use super::store::LightStore;
use super::view::LightView;
use super::worker::LightWorker;
use crate::evm::config::EvmConfig;
use crate::evm::error::EvmError;
use crate::evm::handle::ChainHandle;
use crate::registry::{Member, MemberLookup, RegistryError, RegistryId};

/// Registry that follows a contract's newest roots, in a background thread that ends with the
/// registry and the last clone of its handle.
///
/// The registry has no log. It knows one member at most: the commitment looked up last, see
/// [`MemberLookup::find`].
#[derive(Debug)]
pub struct LightRegistry {
    id: RegistryId,
    view: Arc<Mutex<LightView>>,
    /// A looked-up commitment that the thread has not picked up yet.
    watched: Arc<Mutex<Option<Fr>>>,
    chain: ChainHandle,
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
        let endpoints = config.endpoints(false)?;
        let store = Arc::new(LightStore::open(&config.store, &config.contract)?);
        let view = LightView::of(store.load()?, config.window);
        let view = Arc::new(Mutex::new(view));
        let follower = LightFollower::new(store, Arc::clone(&view));
        let watched = Arc::default();
        let asked = Arc::clone(&watched);
        let chain = ChainHandle::start(endpoints, move |session| {
            LightWorker {
                session,
                watched: asked,
                follower,
                pace: Pace::new(config.poll, config.throttle),
            }
            .run();
        })?;
        Ok(Self {
            id: config.contract.registry_id(),
            view,
            watched,
            chain,
        })
    }

    /// Returns the identifier of the registry, which is also that of [`crate::evm::EvmRegistry`].
    pub fn id(&self) -> RegistryId {
        self.id
    }

    /// Returns the roots and the path as of the last known block; the background thread
    /// keeps updating them.
    pub fn view(&self) -> Arc<Mutex<LightView>> {
        Arc::clone(&self.view)
    }

    /// Returns the handle of the thread that follows the chain.
    pub fn chain(&self) -> &ChainHandle {
        &self.chain
    }
}

impl MemberLookup for LightRegistry {
    /// Returns the contract's last answer, or [`RegistryError::NotAnswered`]. From now on the thread requests
    /// this commitment and its path instead of the one looked up before.
    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError> {
        *self.watched.lock() = Some(commitment);
        let answer = self.view.lock().membership(commitment);
        answer.ok_or(RegistryError::NotAnswered)
    }
}
