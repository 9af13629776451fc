//! Inputs and outputs of the host.

use std::sync::Arc;

use bytes::Bytes;
use undertone_message::WakuMessage;

use super::RequestProtocol;
use crate::history::{HistoryError, HistoryPage, HistoryQuery, StoredMessage};
use crate::lightpush::PublishRefusal;
use crate::{PeerNo, RequestNo};

/// Event that a driver hands to a [`ServiceHost`](super::ServiceHost).
#[derive(Clone, Debug)]
pub enum Input<A> {
    /// A request arrived.
    Request {
        /// Peer that sent it.
        peer: PeerNo,
        /// Where the answer goes; the output returns it. It is dropped if there will be no answer: the peer
        /// disconnects first, or the service is not mounted.
        to: A,
        /// Protocol of the stream.
        protocol: RequestProtocol,
        /// The request without its length prefix.
        bytes: Bytes,
    },
    /// The relay accepted a message.
    Message(StoredMessage),
    /// The archive has answered an [`Output::Query`].
    Page {
        /// Number of the query.
        query: RequestNo,
        /// The page, or why there is none.
        result: Result<HistoryPage, HistoryError>,
    },
    /// The relay has published the message of an [`Output::Publish`], or refused to.
    Published {
        /// Number of the message.
        publish: RequestNo,
        /// Number of relay peers that the message was sent to, or the reason why it was not.
        outcome: Result<u32, PublishRefusal>,
    },
    /// The oldest [`Output::Push`] to a peer that was not reported on has ended; see
    /// [`filter::Input::Pushed`](crate::filter::Input::Pushed).
    Pushed {
        /// Peer that the message was pushed to.
        peer: PeerNo,
        /// Whether all of it was sent.
        delivered: bool,
    },
    /// Result of an [`Output::CheckRecord`].
    RecordChecked {
        /// Number of the check.
        check: RequestNo,
        /// Whether the record has addresses, and the peer itself has signed it.
        is_valid: bool,
    },
    /// Node records that peer exchange gives out from now on; see
    /// [`peer_exchange::Input::Known`](crate::peer_exchange::Input::Known).
    Known(Vec<Bytes>),
    /// The last connection to a peer ended: its requests need no answer, and its pushes no report.
    PeerGone(PeerNo),
    /// The time of [`next_timeout`](super::ServiceHost::next_timeout) has come.
    Tick,
}

/// Work for the driver of a [`ServiceHost`](super::ServiceHost).
///
/// The enum is exhaustive on purpose: a driver that overlooks a new output is wrong, so it must not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<A> {
    /// Write an answer and close the stream.
    Respond {
        /// Where the answer goes.
        to: A,
        /// The answer without its length prefix.
        bytes: Bytes,
    },
    /// Close the stream of a request that gets no answer.
    Close {
        /// Where an answer would have gone.
        to: A,
    },
    /// Ask the archive; the driver reports with [`Input::Page`].
    Query {
        /// Number of the query.
        query: RequestNo,
        /// Query for the archive to answer.
        content: HistoryQuery,
    },
    /// Push a frame to a subscriber, after earlier ones; the driver reports with [`Input::Pushed`].
    Push {
        /// Peer to send to.
        peer: PeerNo,
        /// The frame; pushes of a message to several peers share its memory.
        bytes: Bytes,
    },
    /// Forget the pushes in flight to a peer that read too slowly, without reports, and close their stream.
    Drop {
        /// Peer that was dropped.
        peer: PeerNo,
    },
    /// Check a signed record; the driver reports with [`Input::RecordChecked`].
    CheckRecord {
        /// Number of the check.
        check: RequestNo,
        /// Peer that must have signed the record.
        peer: PeerNo,
        /// Envelope with the record.
        record: Bytes,
    },
    /// Validate a message and publish it through the relay; the driver reports with [`Input::Published`].
    Publish {
        /// Number of the message.
        publish: RequestNo,
        /// Topic to publish on.
        pubsub_topic: Arc<str>,
        /// Message to publish.
        message: WakuMessage,
    },
}
