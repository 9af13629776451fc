//! The server over TCP: clients that are slow, many, or both.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use undertone_node::handle::node_channel;
use undertone_node::rest::{ServeLimits, router, serve};

use crate::rest::support::config;

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(120);

/// A server with these limits, and what stops it. There is no node behind it: `/version` needs none.
async fn server(limits: ServeLimits) -> (std::net::SocketAddr, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (handle, _endpoint) = node_channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    tokio::spawn(serve(listener, router(handle, config()), limits, stopped));
    (address, stop)
}

async fn ask(address: std::net::SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = "GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Reads until the server closes the connection; a reset is an end too.
async fn end(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(HANG, stream.read_to_end(&mut answer)).await;
    let _ = read.expect("the server ends the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn six_hundred_slow_clients_keep_nobody_out_and_hold_few_connections() {
    let limits = ServeLimits {
        connections_max: 40,
        ..ServeLimits::default()
    };
    let (address, _stop) = server(limits).await;
    let mut slow = Vec::new();
    for _ in 0..600 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"GET /version HTTP/1.1\r\nx: ")
            .await
            .unwrap();
        slow.push(stream);
    }
    let answer = tokio::time::timeout(HANG, ask(address)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let open = async || {
        let mut open = 0;
        for stream in &mut slow {
            let mut byte = [0];
            let peeked = stream.try_read(&mut byte);
            let would_block = |e: &std::io::Error| e.kind() == std::io::ErrorKind::WouldBlock;
            open += usize::from(peeked.as_ref().is_err_and(would_block));
        }
        open
    };
    let mut open = open;
    let few = async {
        while open().await > limits.connections_max {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, few)
        .await
        .expect("places are bounded");
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let limits = ServeLimits {
        head_timeout: Duration::from_millis(200),
        ..ServeLimits::default()
    };
    let (address, _stop) = server(limits).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /version HTTP/1.1\r\n")
        .await
        .unwrap();
    let said = end(stream).await;
    assert!(!said.contains("200 OK"), "{said}");
    let silent = TcpStream::connect(address).await.unwrap();
    assert_eq!(end(silent).await, "", "who says nothing is told nothing");
}

#[tokio::test]
async fn a_stopped_server_ends_idle_connections() {
    let (address, stop) = server(ServeLimits::default()).await;
    let idle = TcpStream::connect(address).await.unwrap();
    assert!(ask(address).await.starts_with("HTTP/1.1 200"));
    stop.send(()).unwrap();
    end(idle).await;
    let refused = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(HANG, refused).await.unwrap();
}

/// A body that is far too long is read, so that its sender hears why it was refused.
#[tokio::test]
async fn a_body_beyond_the_bound_is_answered_and_not_reset() {
    let (address, _stop) = server(ServeLimits::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = 3_000_000;
    let head = format!(
        "POST /relay/v1/auto/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'a'; length]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let text = "Failed to publish: Message size exceeded maximum of 1048576 bytes";
    assert!(answer.ends_with(text), "{answer}");
}
