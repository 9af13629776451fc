//! Simulated service peers: their faults, and how they answer lightpush requests.

use std::collections::BTreeSet;
use std::time::Duration;

use rand_core::RngCore;
use undertone_message::{MessageHash, WakuMessage};

use super::super::super::{Input, PushFailure};
use super::World;
use crate::light::Services;
use crate::trust::{Network, Standing};
use crate::{PeerNo, RequestNo};

/// Fault of a service peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Trouble {
    Vanished,
    Hangs,
    /// The peer answers 429.
    Limits,
    /// The peer answers after 25 seconds.
    Late,
    /// The peer has no relay peers.
    Alone,
    /// The peer answers 500, half of the time after publishing.
    Fails,
    /// The peer says that it published, and does not.
    Swallows,
    /// The peer says that the message is invalid.
    Invalid,
    /// The store says that it has nothing.
    Denies,
    /// The store says that it has whatever it is asked about.
    Claims,
}

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Episode {
    pub(in super::super) peer: usize,
    pub(in super::super) trouble: Trouble,
    pub(in super::super) from_s: u64,
    pub(in super::super) len_s: u64,
}

/// Simulated service peer: its faults, and the messages that its store holds.
#[derive(Debug, Default)]
pub(in super::super) struct Server {
    pub(in super::super) services: Services,
    pub(in super::super) standing: Standing,
    pub(in super::super) network: Option<Network>,
    pub(super) is_connected: bool,
    pub(super) troubles: Vec<Trouble>,
    pub(in super::super) archive: BTreeSet<MessageHash>,
    pub(in super::super) pushes: usize,
}

impl Server {
    pub(super) fn has(&self, trouble: Trouble) -> bool {
        self.troubles.contains(&trouble)
    }

    pub(super) fn is_reachable(&self) -> bool {
        !self.has(Trouble::Vanished) && !self.has(Trouble::Hangs)
    }
}

impl World {
    pub(super) fn is_open(&mut self, at: usize) -> bool {
        let server = &self.servers[at];
        let (is_reachable, is_connected) = (server.is_reachable(), server.is_connected);
        if is_reachable && !is_connected {
            self.schedule_soon(Input::Disconnected(PeerNo(at as u64)));
        }
        is_reachable && is_connected
    }

    pub(super) fn serve_push(
        &mut self,
        life: u32,
        at: usize,
        request: RequestNo,
        message: &WakuMessage,
    ) {
        if !self.is_open(at) {
            return;
        }
        self.servers[at].pushes += 1;
        let is_good = self.accepts(message);
        let flip = self.rng.next_u64().is_multiple_of(2);
        let server = &self.servers[at];
        let has = |trouble| server.has(trouble);
        let answer = if has(Trouble::Limits) {
            let retry_after = Some(Duration::from_secs(30));
            Err(PushFailure::Busy { retry_after })
        } else if has(Trouble::Alone) {
            Err(PushFailure::NoPeers)
        } else if has(Trouble::Invalid) {
            Err(PushFailure::Invalid)
        } else if has(Trouble::Swallows) {
            Ok(Some(5))
        } else if !is_good {
            Err(PushFailure::ProofRefused)
        } else if has(Trouble::Fails) {
            if flip {
                self.publish(message);
            }
            Err(PushFailure::Internal)
        } else {
            self.publish(message);
            Ok(Some(3))
        };
        self.answer(life, at, Input::PushAnswer { request, answer });
    }
}
