//! The HTTP server, with limits on the number of connections and on their duration.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use axum::{Router, body::Body, http::Request, response::Response};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use hyper::{
    body::Body as _, body::Incoming, server::conn::http1, service::Service as _,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep, sleep_until, timeout},
};

use super::{
    events::HEARTBEAT,
    long::LongAnswer,
    slots::{Slot, Slots},
};

/// Pause after `accept` failed, usually because file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Interval at which connections are checked for clients that do not read their answer.
const LOOK: Duration = Duration::from_secs(1);

/// Time for requests in progress when the server stops: a little longer than the longest answer takes.
const GOODBYE: Duration = Duration::from_secs(6);

/// Size of the buffer for a request's head and for body bytes read ahead.
const BUFFER_BYTES: usize = 64 * 1024;

/// Connections queued by the system until the server accepts them. If the queue is full, a connection attempt is
/// lost, and the client's system retries after a second.
const BACKLOG: u32 = 4_096;

/// Listens for HTTP connections.
///
/// # Errors
/// Those of the system: the port is taken, or the address is not of this machine.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As the standard library does, so that a node can restart at once on the same port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Limits on the server's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeLimits {
    /// Most connections at a time, not counting event streams, which have a limit of their own. A further connection
    /// replaces the one that has been idle longest, once that one has had time to send its request.
    pub connections_max: usize,
    /// Time limit for a request's head, counted from the previous answer.
    pub head_timeout: Duration,
    /// Time limit for the client to read an answer.
    pub answer_timeout: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections_max: 128,
            head_timeout: Duration::from_secs(20),
            answer_timeout: Duration::from_secs(60),
        }
    }
}

/// Serves `router` until `stop` completes, then finishes the requests in progress.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ServeLimits,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let slots = Slots::new(limits.connections_max);
    let (stopping, stopped) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let free_at = slots.free_at();
        let accepted = tokio::select! {
            accepted = listener.accept(), if free_at.is_none() => accepted,
            () = sleep_until(free_at.unwrap_or_else(Instant::now).into()), if free_at.is_some() => continue,
            Some(_) = connections.join_next() => continue,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let slot = Arc::new(slots.take());
                let serving = connection(stream, router.clone(), slot, limits, stopped.clone());
                connections.spawn(serving);
            }
            Err(error) => {
                tracing::warn!(%error, "REST cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    stopping.send_replace(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    // Connections that take longer are closed when the set is dropped.
    let _ = timeout(GOODBYE, ended).await;
    Ok(())
}

/// Wraps a request's body, so that its connection counts as busy once the body has arrived. Until then the connection
/// can be replaced like an idle one: clients that never finish a body keep nobody out.
fn counted(body: Incoming, seat: &Arc<Slot>) -> Body {
    if body.is_end_stream() {
        seat.touch(true);
        return Body::empty();
    }
    seat.touch(false);
    let seat = Arc::clone(seat);
    let end = stream::once(async move {
        seat.touch(true);
        Ok(Bytes::new())
    });
    Body::from_stream(Body::new(body).into_data_stream().chain(end))
}

async fn connection(
    stream: TcpStream,
    router: Router,
    slot: Arc<Slot>,
    limits: ServeLimits,
    mut stopped: watch::Receiver<bool>,
) {
    let router = TowerToHyperService::new(router);
    let seat = Arc::clone(&slot);
    // The connection closes after a long answer, so there is at most one.
    let long = Arc::new(OnceLock::<LongAnswer>::new());
    let mark = Arc::clone(&long);
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = router.call(request.map(|body| counted(body, &seat)));
        let (seat, mark) = (Arc::clone(&seat), Arc::clone(&mark));
        async move {
            let Ok(mut response): Result<Response, Infallible> = answer.await;
            match response.extensions_mut().remove() {
                Some(long) => {
                    seat.give_up();
                    let _ = mark.set(long);
                }
                None => seat.touch(false),
            }
            Ok::<_, Infallible>(response)
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = pin!(serving);
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            // Requests that have arrived are read first.
            biased;
            ended = serving.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a REST connection ended");
                }
                return;
            }
            () = slot.is_wanted() => {
                if !slot.must_leave() {
                    continue;
                }
                tracing::debug!("closing a REST connection to make room for another");
                return;
            }
            _ = look.tick() => {
                // A connection without a request ends by its head timeout; here the client does not read the answer.
                if slot.is_idle_for(limits.answer_timeout.max(limits.head_timeout)) {
                    tracing::debug!("closing a REST connection whose client does not read the answer");
                    return;
                }
                if let Some(long) = long.get() {
                    // A client that reads makes room at the latest at each heartbeat.
                    if long.is_stuck_for(limits.answer_timeout + HEARTBEAT) {
                        tracing::debug!("closing an event stream whose client does not read");
                        return;
                    }
                    if is_stopping {
                        long.end();
                    }
                }
            }
            _ = stopped.wait_for(|stopped| *stopped), if !is_stopping => {
                is_stopping = true;
                serving.as_mut().graceful_shutdown();
                if let Some(long) = long.get() {
                    long.end();
                }
            }
        }
    }
}
