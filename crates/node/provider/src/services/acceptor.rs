//! Acceptor of the streams that peers open: reads a request, waits for the answer, writes it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::io::AsyncRead;
use futures::{AsyncReadExt as _, AsyncWriteExt as _};
use libp2p::PeerId;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use undertone_services::host::RequestProtocol;

use super::framing::{read_body, read_length, write_frame};
use super::held_bytes::{HeldBytes, HeldShare};
use super::light_driver::LightCall;
use undertone_network::swarm::InboundStream;
use undertone_network::traces::{RequestSpan, SpanKind, Tracer};

/// Time for a stream's first byte. Some clients open a stream ahead of their first request, so an idle one is
/// no fault; each connection has a bounded number of them.
const IDLE: Duration = Duration::from_secs(600);

/// Time for a frame, once its length is known.
const READING: Duration = Duration::from_secs(30);

/// Time for an answer from the services and for writing it; a slow reader loses its stream then.
const ANSWERING: Duration = Duration::from_secs(30);

/// Bytes of all frames that are being read or wait for the services.
const FRAME_BYTES_MAX: usize = 32 << 20;

/// Bytes of all answers that peers have not read yet: two of the longest.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Request of a peer.
#[derive(Debug)]
pub(super) struct PeerRequest {
    pub(super) peer: PeerId,
    pub(super) protocol: RequestProtocol,
    pub(super) bytes: Bytes,
    /// Share of the memory for requests, given back when dropped.
    pub(super) held: HeldShare,
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
    Request(RequestProtocol),
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
    /// Giver of spans, on a node with traces.
    pub(super) tracer: Option<Tracer>,
}

/// Memory of all streams.
#[derive(Clone)]
struct StreamMemory {
    frames: Arc<HeldBytes>,
    answers: Arc<HeldBytes>,
}

/// Accepts streams until the node stops, and gives what they bring to `requests`.
pub(super) async fn accept(
    mut inbound: mpsc::UnboundedReceiver<InboundStream>,
    accepted: Vec<AcceptedProtocol>,
    requests: Requests,
) {
    let memory = StreamMemory {
        frames: HeldBytes::new(FRAME_BYTES_MAX),
        answers: HeldBytes::new(ANSWER_BYTES_MAX),
    };
    while let Some(stream) = inbound.recv().await {
        let known = accepted
            .iter()
            .find(|accepted| accepted.protocol == stream.protocol.as_ref());
        let Some(accepted) = known.copied() else {
            continue;
        };
        if accepted.form == StreamForm::Session {
            // A peer whose stream finds the queue full sees that it is reset.
            if let Some(queue) = &requests.sessions {
                let _ = queue.try_send(stream);
            }
            continue;
        }
        let (requests, memory) = (requests.clone(), memory.clone());
        tokio::spawn(async move {
            let (peer, protocol) = (stream.peer, stream.protocol.clone());
            if let Err(error) = serve(stream, accepted, requests, memory).await {
                tracing::debug!(%peer, %protocol, %error, "a service's stream failed");
            }
        });
    }
}

async fn serve(
    inbound: InboundStream,
    accepted: AcceptedProtocol,
    requests: Requests,
    memory: StreamMemory,
) -> io::Result<()> {
    let InboundStream {
        peer,
        protocol,
        mut stream,
        turns,
    } = inbound;
    let max = accepted.frame_bytes_max;
    while let Some(len) = timeout(IDLE, read_length(&mut stream, max)).await?? {
        let mut held = memory.frames.hold(peer, len);
        let bytes = tokio::select! {
            bytes = timeout(READING, read_body(&mut stream, len)) => bytes??,
            () = held.gives_way() => return Err(greedy()),
        };
        let StreamForm::Request(service) = accepted.form else {
            let pushed = LightCall::Pushed(peer, bytes);
            if requests.pushed.send(pushed).await.is_err() {
                break;
            }
            continue;
        };
        // The request is read before its turn: a muxer without flow control would hold up the other streams.
        let _turn = tokio::select! {
            turn = turns.acquire() => turn.map_err(io::Error::other)?,
            () = held.gives_way() => return Err(greedy()),
        };
        if !held.keep() {
            return Err(greedy());
        }
        let (reply, answer) = oneshot::channel();
        let span = RequestSpan::begin(requests.tracer.as_ref(), SpanKind::Server, peer, &protocol);
        let span = span.with_request(bytes.len());
        let request = PeerRequest {
            peer,
            protocol: service,
            bytes,
            held,
            reply,
        };
        let (mut reading, mut writing) = stream.split();
        let answering = async {
            if requests.answered.send(request).await.is_err() {
                return Ok(());
            }
            // Without an answer, the services are stopping or the request was dropped.
            if let Ok(Ok(answer)) = timeout(ANSWERING, answer).await {
                let held = memory.answers.hold(peer, answer.len());
                tokio::select! {
                    written = timeout(ANSWERING, write_frame(&mut writing, &answer)) => written??,
                    () = held.gives_way() => return Err(greedy()),
                }
            }
            timeout(ANSWERING, writing.close()).await?
        };
        let answered = tokio::select! {
            answered = answering => answered,
            error = overrun(&mut reading) => Err(error),
        };
        span.end(answered.as_ref().err());
        return answered;
    }
    timeout(ANSWERING, stream.close()).await?
}

/// Waits until a peer sends more than its request, which nobody would read, or resets the stream.
async fn overrun(stream: &mut (impl AsyncRead + Unpin)) -> io::Error {
    match stream.read(&mut [0]).await {
        // The peer has closed its half, as it may.
        Ok(0) => std::future::pending().await,
        Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "more than one request"),
        Err(error) => error,
    }
}

fn greedy() -> io::Error {
    io::Error::other("the peer holds more memory than any other")
}
