//! Acceptor of the streams that peers open: reads a request, waits for the answer, writes it.

use std::time::Duration;

use bytes::Bytes;
use futures::AsyncWriteExt as _;
use libp2p::{PeerId, StreamProtocol};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::framing::{read_frame, write_frame};
use super::light_driver::LightCall;
use crate::swarm::InboundStream;

/// Time for a stream's first byte. Some clients open a stream ahead of their first request, so an idle one is
/// no fault; each connection has a bounded number of them.
const IDLE: Duration = Duration::from_secs(600);

/// Time for an answer from the services and for writing it; a slow reader loses its stream then.
const ANSWERING: Duration = Duration::from_secs(30);

/// Request of a peer.
#[derive(Debug)]
pub(super) struct PeerRequest {
    pub(super) peer: PeerId,
    pub(super) protocol: StreamProtocol,
    pub(super) bytes: Bytes,
    pub(super) reply: oneshot::Sender<Bytes>,
}

/// Protocol that is accepted, and the form of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AcceptedProtocol {
    /// Id of the protocol.
    pub(super) protocol: &'static str,
    /// Longest frame, bytes.
    pub(super) frame_bytes_max: usize,
    /// Use that peers make of a stream.
    pub(super) form: StreamForm,
}

/// Use that peers make of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamForm {
    /// One request and its answer.
    Request,
    /// Messages without answers.
    Push,
    /// Frames in both directions, which the service reads and writes itself.
    Session,
}

/// Queues for what peers send.
#[derive(Clone)]
pub(super) struct Requests {
    /// Requests that are answered.
    pub(super) answered: mpsc::Sender<PeerRequest>,
    /// Frames of pushed messages, which are not.
    pub(super) pushed: mpsc::Sender<LightCall>,
    /// Streams of sessions, as they are; `None` if no such protocol is accepted.
    pub(super) sessions: Option<mpsc::Sender<InboundStream>>,
}

/// Accepts streams until the node stops, and gives what they bring to `requests`.
pub(super) async fn accept(
    mut inbound: mpsc::Receiver<InboundStream>,
    accepted: Vec<AcceptedProtocol>,
    requests: Requests,
) {
    while let Some(stream) = inbound.recv().await {
        let known = accepted
            .iter()
            .find(|accepted| accepted.protocol == stream.protocol.as_ref());
        let Some(accepted) = known.copied() else {
            continue;
        };
        if accepted.form == StreamForm::Session {
            // A peer whose stream finds the queue full sees that it is reset.
            let _ = requests
                .sessions
                .as_ref()
                .map(|queue| queue.try_send(stream));
            continue;
        }
        let requests = requests.clone();
        tokio::spawn(async move {
            let (peer, protocol) = (stream.peer, stream.protocol.clone());
            if let Err(error) = serve(stream, accepted, requests).await {
                tracing::debug!(%peer, %protocol, %error, "a service's stream failed");
            }
        });
    }
}

async fn serve(
    inbound: InboundStream,
    accepted: AcceptedProtocol,
    requests: Requests,
) -> std::io::Result<()> {
    let InboundStream {
        peer,
        protocol,
        mut stream,
        permit,
    } = inbound;
    let max = accepted.frame_bytes_max;
    while let Some(bytes) = timeout(IDLE, read_frame(&mut stream, max)).await?? {
        if accepted.form == StreamForm::Push {
            if requests
                .pushed
                .send(LightCall::Pushed(peer, bytes))
                .await
                .is_err()
            {
                break;
            }
            continue;
        }
        let (reply, answer) = oneshot::channel();
        let request = PeerRequest {
            peer,
            protocol: protocol.clone(),
            bytes,
            reply,
        };
        if requests.answered.send(request).await.is_err() {
            break;
        }
        // Without an answer, the services are stopping or the request was dropped.
        if let Ok(Ok(answer)) = timeout(ANSWERING, answer).await {
            timeout(ANSWERING, write_frame(&mut stream, &answer)).await??;
        }
        break;
    }
    timeout(ANSWERING, stream.close()).await??;
    drop(permit);
    Ok(())
}
