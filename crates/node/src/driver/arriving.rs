//! Reports long incoming frames to the router.

use undertone_relay::Input;

use super::event_loop::EventLoop;

impl EventLoop {
    /// Tells the router from which peers long frames are being received, if that has changed.
    pub(crate) fn report_transfers(&mut self) {
        for (peer, is_started) in self.arrivals.take_changes() {
            if let Some(peer) = self.peers.find(&peer) {
                self.handle(match is_started {
                    true => Input::TransferStarted(peer),
                    false => Input::TransferEnded(peer),
                });
            }
        }
    }
}
