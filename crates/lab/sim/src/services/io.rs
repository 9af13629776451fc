//! Events and actions of the services of one node.

use std::sync::Arc;

use bytes::Bytes;
use undertone_link::ConnIx;
use undertone_message::WakuMessage;
use undertone_services::RequestNo;
use undertone_services::lightpush::PublishRefusal;

/// Event for the services of a node.
#[derive(Debug)]
pub(crate) enum ServiceInput {
    /// A client dials; `conn` is the client's index of the connection.
    Dial { client: u32, conn: ConnIx },
    /// A client's connection was closed, or its end was noticed.
    Closed(ConnIx),
    /// A frame arrived from a client.
    Frame { conn: ConnIx, frame: Bytes },
    /// The relay found a message valid.
    Message {
        topic: Arc<str>,
        message: WakuMessage,
    },
    /// The relay published a message of a client, or refused to.
    Published {
        publish: RequestNo,
        outcome: Result<u32, PublishRefusal>,
    },
    /// The archive has finished a query.
    Queried(RequestNo),
    /// A pushed message was passed to the connection, or could not be.
    Pushed { client: u32, delivered: bool },
    /// The trouble with this number begins.
    TroubleBegins(u32),
    /// The trouble with this number ends.
    TroubleEnds(u32),
    /// Another store accepts a connection that this one dialled.
    Accepted {
        node: u32,
        conn: ConnIx,
        remote_conn: ConnIx,
    },
    /// Another store refuses a connection.
    Refused(ConnIx),
    /// Time has passed.
    Tick,
}

/// Action that the services request from their node.
#[derive(Debug)]
pub(crate) enum ServiceAction {
    /// Open this end of a client's connection, and tell the client.
    Open {
        client: u32,
        conn: ConnIx,
        remote_conn: ConnIx,
    },
    /// Dial another store.
    Dial { peer: u32, conn: ConnIx },
    /// Open this end of a connection that another store has accepted.
    Connect {
        peer: u32,
        conn: ConnIx,
        remote_conn: ConnIx,
    },
    /// Tell a client that its connection is refused.
    Refuse { client: u32, remote_conn: ConnIx },
    /// Close a connection and tell the client.
    Close {
        client: u32,
        conn: ConnIx,
        remote_conn: ConnIx,
    },
    /// Drop a connection whose other end is gone.
    Forget(ConnIx),
    /// Write a frame, with its length including the overhead of streams.
    Write {
        conn: ConnIx,
        client: u32,
        frame: Bytes,
        bytes: u64,
        is_push: bool,
    },
    /// Send [`ServiceInput::Queried`] at a time.
    QueryUntil { query: RequestNo, at_ns: u64 },
    /// Publish a message through the relay.
    Publish {
        publish: RequestNo,
        topic: Arc<str>,
        message: WakuMessage,
    },
}
