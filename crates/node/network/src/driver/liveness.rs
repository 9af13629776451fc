//! Detection of connections that died without being closed.

use std::io;
use std::time::Instant;

use libp2p::ping::{self, Failure};

use super::event_loop::EventLoop;

impl EventLoop {
    /// Closes a connection whose peer no longer answers pings. A peer that resets the ping stream or does not
    /// know the protocol is alive.
    pub(crate) fn on_ping(&mut self, event: ping::Event) {
        let peer = event.peer;
        let failure = match event.result {
            Ok(_) => return self.peers.note_answer(peer, Some(Instant::now())),
            Err(failure) => failure,
        };
        if matches!(failure, Failure::Unsupported) {
            self.peers.note_answer(peer, None);
        }
        if is_silence(&failure) {
            tracing::info!(%peer, "closing a connection whose peer no longer answers");
            self.swarm.close_connection(event.connection);
        } else {
            tracing::debug!(%peer, %failure, "ping failed");
        }
    }
}

fn is_silence(failure: &Failure) -> bool {
    match failure {
        Failure::Timeout => true,
        // The stream of a second attempt could not even be negotiated.
        Failure::Other { error } => error
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::TimedOut),
        Failure::Unsupported => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_peer_that_says_nothing_is_silent() {
        let other = |kind| Failure::Other {
            error: Box::new(io::Error::from(kind)),
        };
        assert!(is_silence(&Failure::Timeout));
        assert!(is_silence(&other(io::ErrorKind::TimedOut)));
        assert!(!is_silence(&other(io::ErrorKind::UnexpectedEof)));
        assert!(!is_silence(&Failure::Unsupported));
    }
}
