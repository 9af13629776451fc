//! The two traits that a custom strategy implements.

use std::fmt;

use super::send_plan::SendPlan;
use super::view::View;
use crate::rng::Rng;
use crate::types::PeerIx;

/// Choice of the receivers of messages. The default methods behave as GossipSub.
///
/// The router removes the senders of a message, and peers that do not want it, from the receivers before it calls
/// [`spread`](Self::spread). From a custom strategy's result it removes repeated peers and peers that are not
/// subscribed to the topic, so a mistake costs deliveries and never violates the protocol.
///
/// A strategy must be deterministic: its choices may depend only on its arguments, its own state, and the [`Rng`]
/// passed to it. Otherwise a run cannot be replayed from its seed.
pub trait Strategy: fmt::Debug + Send {
    /// Whether meshes are maintained and ids are gossiped. Must always return the same value.
    fn keeps_mesh(&self) -> bool {
        true
    }

    /// Returns the receivers of a forwarded message.
    fn forward(&mut self, view: &View<'_>) -> Vec<PeerIx> {
        view.receivers_of_forwarded()
    }

    /// Returns the receivers of a message published by this node, `len` bytes long.
    fn publish(&mut self, view: &View<'_>, len: usize, rng: &mut Rng) -> Vec<PeerIx> {
        view.receivers_of_published(len, rng)
    }

    /// Decides how a message of `len` bytes is sent to the receivers that still lack it.
    ///
    /// `receivers` are those of [`forward`](Self::forward), or of [`publish`](Self::publish) for a message of this
    /// node. By default, a message of this node also goes to the subscribers that flood publishing adds
    /// ([`flood_publish`](crate::Config::flood_publish)), so `receivers` may hold many more peers than the mesh.
    /// [`View::mesh`] tells which of them are members.
    fn spread(
        &mut self,
        _view: &View<'_>,
        _len: usize,
        receivers: Vec<PeerIx>,
        _rng: &mut Rng,
    ) -> SendPlan {
        SendPlan::at_once(receivers)
    }

    /// Names the peer to which a message is passed on alone, in the stem of Dandelion++; `None` spreads the message.
    /// By default every message is spread.
    ///
    /// It is asked about messages of this node, with `from` = `None`, and about accepted messages that `from` passed
    /// on in the stem. The peer must be subscribed to the topic and have the feature
    /// [`stem`](crate::Features::stem).
    fn stem(&mut self, _view: &View<'_>, _from: Option<PeerIx>, _rng: &mut Rng) -> Option<PeerIx> {
        None
    }
}

/// Constructor of a [`Strategy`], stored in configurations: each router created from a configuration gets a strategy
/// with its own state.
pub trait StrategyFactory: fmt::Debug + Send + Sync {
    /// Creates the strategy of one router.
    fn build(&self) -> Box<dyn Strategy>;
}
