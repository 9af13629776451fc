//! What is measured, and the check that every variant does the same work.

use bytes::Bytes;

use crate::frames::{Messages, rpcs};

/// Peers in the mesh; the first sends first copies, the second sends further ones.
pub(crate) const PEERS: usize = 8;

/// A router with [`PEERS`] mesh peers.
pub(crate) trait Subject {
    /// A frame in the form in which the router takes it.
    type Arriving;
    /// Where its frames go.
    type Outlet: Outlet;

    fn new() -> Self;

    /// Prepares a frame; not measured.
    fn arriving(&mut self, frame: &Bytes) -> Self::Arriving;

    /// Takes a first copy from peer 0, accepts it and sends what is to be sent.
    fn first_copy(&mut self, arriving: Self::Arriving);

    /// Takes a further copy from peer 1.
    fn further_copy(&mut self, arriving: Self::Arriving);

    fn outlet(&mut self) -> &mut Self::Outlet;
}

/// What a router sends, for the checks; not measured.
pub(crate) trait Outlet {
    /// Sends what still waits to be sent.
    fn settle(&mut self);

    /// Bytes sent to all peers so far.
    fn sent_bytes(&self) -> u64;

    /// Keeps what is sent from now on.
    fn record(&mut self);

    /// What was sent to each peer since [`Outlet::record`], and keeps no more.
    fn recorded(&mut self) -> Vec<Bytes>;
}

/// A subject whose every first copy must be forwarded to all mesh peers but the sender.
pub(crate) struct Checked<S> {
    subject: S,
    /// Bytes that one first copy makes the subject send.
    bytes_per_message: u64,
    expected_bytes: u64,
}

impl<S: Subject> Checked<S> {
    /// A fresh subject, after it has shown with one message of the size that it does the work.
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

    /// Settles, and checks that as much was sent as the messages so far ask for.
    pub(crate) fn settle(&mut self) {
        self.subject.outlet().settle();
        let sent = self.subject.outlet().sent_bytes();
        assert_eq!(sent, self.expected_bytes, "bytes sent to all peers");
    }
}

/// Peer 0, who sent the message, got nothing; all others got it once, and one IDONTWANT before.
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
