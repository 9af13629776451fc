//! What is coming in, for the router.

use undertone_relay::Input;

use super::event_loop::EventLoop;

impl EventLoop {
    /// Tells the router from whom long frames are coming in, if that has changed.
    pub(crate) fn tell_arriving(&mut self) {
        for (peer, is_arriving) in self.arrivals.take_changes() {
            if let Some(peer) = self.peers.find(&peer) {
                self.handle(Input::Arriving { peer, is_arriving });
            }
        }
    }
}
