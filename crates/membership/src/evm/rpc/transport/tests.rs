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
