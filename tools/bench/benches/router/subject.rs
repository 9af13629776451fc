//! The interface of the measured routers, and the check that every variant does the same work.

use bytes::Bytes;

use crate::frames::{Messages, rpcs};

/// Number of peers in the mesh; the first sends first copies, the second sends duplicates.
pub(crate) const PEERS: usize = 8;

/// A router with [`PEERS`] mesh peers.
pub(crate) trait Subject {
    /// A frame in the form in which the router accepts it.
    type Arriving;
    /// Destination of its frames.
    type PushStreams: PushStreams;

    fn new() -> Self;

    /// Prepares a frame; not measured.
    fn arriving(&mut self, frame: &Bytes) -> Self::Arriving;

    /// Processes a first copy from peer 0: accepts it and sends what results.
    fn first_copy(&mut self, arriving: Self::Arriving);

    /// Processes a duplicate from peer 1.
    fn further_copy(&mut self, arriving: Self::Arriving);

    fn outlet(&mut self) -> &mut Self::PushStreams;
}

/// A router's output, for the checks; not measured.
pub(crate) trait PushStreams {
    /// Sends everything that is still queued.
    fn settle(&mut self);

    /// Returns the number of bytes sent to all peers so far.
    fn sent_bytes(&self) -> u64;

    /// Starts to record what is sent.
    fn record(&mut self);

    /// Stops recording, and returns what was sent to each peer since [`PushStreams::record`].
    fn recorded(&mut self) -> Vec<Bytes>;
}

/// A router that must forward every first copy to all mesh peers except the sender.
pub(crate) struct Checked<S> {
    subject: S,
    /// Number of bytes that the router sends for one first copy.
    bytes_per_message: u64,
    expected_bytes: u64,
}

impl<S: Subject> Checked<S> {
    /// Creates a router and verifies with one message of the size that it does the work.
    pub(crate) fn new(messages: &mut Messages) -> Self {
        let mut subject = S::new();
        subject.outlet().settle();
        let before = subject.outlet().sent_bytes();
        let frame = messages.fresh();
        subject.outlet().record();
        let arriving = subject.arriving(&frame);
        subject.first_copy(arriving);
        subject.outlet().settle();
        assert_forwarded(&frame, subject.outlet().recorded());

        let after = subject.outlet().sent_bytes();
        let arriving = subject.arriving(&frame);
        subject.further_copy(arriving);
        subject.outlet().settle();
        assert_eq!(
            subject.outlet().sent_bytes(),
            after,
            "a duplicate was answered"
        );
        Self {
            subject,
            bytes_per_message: after - before,
            expected_bytes: after,
        }
    }

    pub(crate) fn arriving(&mut self, frame: &Bytes) -> S::Arriving {
        self.subject.arriving(frame)
    }

    pub(crate) fn first_copy(&mut self, arriving: S::Arriving) {
        self.expected_bytes += self.bytes_per_message;
        self.subject.first_copy(arriving);
    }

    pub(crate) fn further_copy(&mut self, arriving: S::Arriving) {
        self.subject.further_copy(arriving);
    }

    /// Settles, and checks that the number of bytes sent matches the messages so far.
    pub(crate) fn settle(&mut self) {
        self.subject.outlet().settle();
        let sent = self.subject.outlet().sent_bytes();
        assert_eq!(sent, self.expected_bytes, "bytes sent to all peers");
    }
}

/// Checks that peer 0, the sender, got nothing, and that all others got the message once and one IDONTWANT.
fn assert_forwarded(frame: &Bytes, sent: Vec<Bytes>) {
    assert_eq!(sent.len(), PEERS, "peers");
    let expected = rpcs(frame.clone()).remove(0).messages;
    for (peer, written) in sent.into_iter().enumerate() {
        let rpcs = rpcs(written);
        let messages: Vec<_> = rpcs.iter().flat_map(|rpc| &rpc.messages).collect();
        let unwanted = rpcs.iter().map(|rpc| rpc.idontwant.len()).sum::<usize>();
        if peer == 0 {
            assert!(rpcs.is_empty(), "the sender got something back");
        } else {
            let same = messages.iter().copied().eq(&expected);
            assert!(same, "peer {peer} did not get the message, and it alone");
            assert_eq!(unwanted, 1, "ids in IDONTWANT to peer {peer}");
        }
    }
}
