use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

use alloy::hex;

use super::*;

/// The text `{"jsonrpc":"2.0","id":1,"result":"0x1"}`, compressed by gzip.
const ANSWER: &str = "1f8b0800000000000203ab56ca2acecf2b2a4856b25232d23350d251ca4c51b232d4512a4a2d2ecd\
     29018a1a54182ad50200c023c3ed27000000";
/// A text of 100,000 spaces, compressed by gzip.
const BOMB: &str = "1f8b0800000000000203edc13101000000c2a02aeb9fd21a1e400100000000000000000000000000\
     00000000000000000000000000000000000000000000000000000000000000000000000000000000\
     00000000000000000000000000000000000000000000000000000000000000000000000000000000\
     000000af062df079caa0860100";

/// Returns a client's result for a compressed answer, and whether it had asked for compression.
fn call(packed: &str, max_answer_bytes: u64) -> (Result<Vec<u8>, RpcError>, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let packed = hex::decode(packed).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let head = lines
            .map(Result::unwrap)
            .take_while(|line| !line.is_empty());
        let asks = |line: String| {
            line.to_ascii_lowercase()
                .starts_with("accept-encoding: gzip")
        };
        let has_asked = head.map(asks).fold(false, |any, asks| any | asks);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&packed).unwrap();
        has_asked
    });
    let limits = RpcLimits {
        max_answer_bytes,
        ..RpcLimits::default()
    };
    let mut transport = Transport::new(&url, &limits, true).unwrap();
    let answer = transport.call(1, "{}".to_owned(), &limits);
    (answer, server.join().unwrap())
}

#[test]
fn answers_may_be_packed() {
    let (answer, has_asked) = call(ANSWER, 1_000);
    assert!(has_asked);
    let expected = br#"{"jsonrpc":"2.0","id":1,"result":"0x1"}"#;
    assert_eq!(answer, Ok(expected.to_vec()));
}

/// The limit is on the decompressed length.
#[test]
fn a_packed_answer_is_limited_too() {
    let (answer, _) = call(BOMB, 99_999);
    let max_bytes = 99_999;
    assert_eq!(answer, Err(RpcError::TooLong { max_bytes }));
    assert_eq!(call(BOMB, 100_000).0.map(|bytes| bytes.len()), Ok(100_000));
}

#[test]
fn a_url_that_cannot_be_used_is_named_without_its_key() {
    for (url, named) in [
        ("ftp://user:KEY@a.example/v3/KEY?KEY", "\"ftp://a.example\""),
        ("a.example/v3/KEY", "\"a.example\""),
        ("KEY@a.example?KEY", "\"a.example\""),
        ("https://KEY@/v3/KEY", "\"https://\""),
    ] {
        let error = Transport::new(url, &RpcLimits::default(), false).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(named) && !text.contains("KEY"), "{text}");
        assert!(!format!("{error:?}").contains("KEY"), "{error:?}");
    }
    let url = "https://user:KEY@a.example:8545/v3/KEY";
    let transport = Transport::new(url, &RpcLimits::default(), false).unwrap();
    assert_eq!(transport.name(), "https://a.example:8545");
}

/// Where two providers of TLS are compiled in, nobody has chosen one before the first connection.
#[test]
fn an_endpoint_over_wss_that_does_not_speak_tls_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let plain = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut hello = [0; 5];
        socket.read_exact(&mut hello).unwrap();
        socket
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        hello
    });
    let url = format!("wss://127.0.0.1:{port}");
    let limits = RpcLimits::default();
    let mut transport = Transport::new(&url, &limits, false).unwrap();
    let answer = transport.call(1, "{}".to_owned(), &limits);
    assert!(
        matches!(answer, Err(RpcError::Unreachable { .. })),
        "{answer:?}"
    );
    assert_eq!(plain.join().unwrap()[..2], [22, 3], "a handshake of TLS");
}

/// Time of a request to an endpoint that sends a byte at a time.
const SHORT: Duration = Duration::from_millis(400);

/// Starts an endpoint that takes one request, whose end it knows, and sends an answer for it byte by byte; returns its
/// address. The whole takes five times as long as [`SHORT`].
fn dripping(
    mut take: impl FnMut(&mut std::net::TcpStream) + Send + 'static,
    answer: Vec<u8>,
) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        take(&mut stream);
        for byte in &answer {
            thread::sleep(SHORT * 5 / answer.len() as u32);
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
        }
        // Until the client has read it.
        let _ = stream.read(&mut [0]);
    });
    address
}

fn call_within(url: &str, timeout: Duration) -> Result<Vec<u8>, RpcError> {
    let limits = RpcLimits {
        timeout,
        ..RpcLimits::default()
    };
    Transport::new(url, &limits, false)
        .unwrap()
        .call(1, "{}".to_owned(), &limits)
}

/// Reads the head of a request over HTTP.
fn take_head(stream: &mut std::net::TcpStream) {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.take_while(|line| !line.is_empty()).count() > 0);
}

const TEXT: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":"0x1"}"#;

#[test]
fn an_answer_over_http_that_drips_is_given_up() {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", TEXT.len()).into_bytes();
    answer.extend_from_slice(TEXT);
    let address = dripping(take_head, answer);
    let answer = call_within(&format!("http://{address}"), SHORT);
    assert_eq!(answer, Err(RpcError::Timeout { after_ms: 400 }));
}

#[test]
fn an_answer_over_a_websocket_that_drips_is_given_up() {
    // A text frame that is not masked.
    let mut answer = vec![0x81, TEXT.len() as u8];
    answer.extend_from_slice(TEXT);
    let take = |stream: &mut std::net::TcpStream| {
        let mut socket = tungstenite::accept(stream).unwrap();
        socket.read().unwrap();
    };
    let address = dripping(take, answer.clone());
    let given_up = call_within(&format!("ws://{address}"), SHORT);
    assert_eq!(given_up, Err(RpcError::Timeout { after_ms: 400 }));
    let patient = call_within(&format!("ws://{}", dripping(take, answer)), SHORT * 100);
    assert_eq!(patient, Ok(TEXT.to_vec()));
}

#[test]
fn a_handshake_that_drips_is_given_up() {
    let head = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n".to_vec();
    for (scheme, answer) in [
        ("ws", head),
        ("wss", vec![22, 3, 3, 1, 0, 2, 0, 0, 252, 3, 3]),
    ] {
        let address = dripping(|_| {}, answer);
        let answer = call_within(&format!("{scheme}://{address}"), SHORT);
        assert_eq!(answer, Err(RpcError::Timeout { after_ms: 400 }), "{scheme}");
    }
}

/// What is asked decides how long its answer may be, over both transports.
#[test]
fn a_long_answer_over_a_websocket_is_not_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut socket = tungstenite::accept(listener.accept().unwrap().0).unwrap();
        socket.read().unwrap();
        // The client may hang up before its end.
        let _ = socket.send(tungstenite::Message::text(" ".repeat(100_000)));
        let _ = socket.read();
    });
    let limits = RpcLimits {
        max_answer_bytes: 99_999,
        ..RpcLimits::default()
    };
    let mut transport = Transport::new(&url, &limits, false).unwrap();
    let answer = transport.call(1, "{}".to_owned(), &limits);
    assert_eq!(answer, Err(RpcError::TooLong { max_bytes: 99_999 }));
}
