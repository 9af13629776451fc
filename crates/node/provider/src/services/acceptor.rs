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

/// Time limit for a stream's first byte. Some clients open a stream before their first request, so an idle one is no
/// fault. Each connection has a bounded number of streams.
const IDLE: Duration = Duration::from_secs(600);

/// Time limit for a frame, once its length is known.
const READING: Duration = Duration::from_secs(30);

/// Time limit for the services' answer, and again for writing it. A slow reader then loses its stream.
const ANSWERING: Duration = Duration::from_secs(30);

/// Maximum total bytes of frames that are being read or wait for the services.
const FRAME_BYTES_MAX: usize = 32 << 20;

/// Maximum total bytes of answers that peers have not read yet: two of the longest.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Request of a peer.
#[derive(Debug)]
pub(super) struct PeerRequest {
    pub(super) peer: PeerId,
    pub(super) protocol: RequestProtocol,
    pub(super) bytes: Bytes,
    /// Share of the memory for requests; returned when dropped.
    pub(super) held: HeldShare,
    pub(super) reply: oneshot::Sender<Bytes>,
}

/// An accepted protocol and the use of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AcceptedProtocol {
    /// Id of the protocol.
    pub(super) protocol: &'static str,
    /// Maximum length of a frame, bytes.
    pub(super) frame_bytes_max: usize,
    /// How peers use a stream.
    pub(super) form: StreamForm,
}

/// How peers use a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamForm {
    /// One request and its answer.
    Request(RequestProtocol),
    /// Messages without answers.
    Push,
    /// Frames in both directions, which the service reads and writes itself.
    Session,
}

/// Queues for requests, pushed messages and sessions from peers.
#[derive(Clone)]
pub(super) struct Requests {
    /// Requests that get an answer.
    pub(super) answered: mpsc::Sender<PeerRequest>,
    /// Frames of pushed messages, which get none.
    pub(super) pushed: mpsc::Sender<LightCall>,
    /// Unread streams of sessions; `None` if no such protocol is accepted.
    pub(super) sessions: Option<mpsc::Sender<InboundStream>>,
    /// Tracer, on a node with traces.
    pub(super) tracer: Option<Tracer>,
}

/// Memory limits of all streams.
#[derive(Clone)]
struct StreamMemory {
    frames: Arc<HeldBytes>,
    answers: Arc<HeldBytes>,
}

/// Accepts streams until the node stops, and passes their content to `requests`.
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
            // If the queue is full, the stream is reset, which the peer notices.
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
        // The request is read before its turn: otherwise a muxer without flow control would block the other streams.
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
            // Without an answer, the services are stopping or have dropped the request.
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

/// Waits until a peer resets the stream, or sends more than its request, which nobody would read.
async fn overrun(stream: &mut (impl AsyncRead + Unpin)) -> io::Error {
    match stream.read(&mut [0]).await {
        // The peer has closed its half of the stream, which is allowed.
        Ok(0) => std::future::pending().await,
        Ok(_) => io::Error::new(io::ErrorKind::InvalidData, "more than one request"),
        Err(error) => error,
    }
}

fn greedy() -> io::Error {
    io::Error::other("the peer holds more memory than any other")
}
