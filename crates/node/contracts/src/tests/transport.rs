use std::io::{Read, Write};
use std::net::TcpListener;

use alloy::providers::Provider;

use super::*;
use crate::account::{asked, reader};

/// Starts an endpoint that gives one answer; returns its address.
fn endpoint(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            let mut piece = [0; 1024];
            let length = stream.read(&mut piece).unwrap();
            assert!(length > 0, "the request ends with a brace");
            request.extend_from_slice(&piece[..length]);
        }
        // The client hangs up before the end of a long answer.
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
    });
    url
}

async fn block_number(url: &str) -> Result<u64, ChainError> {
    let provider = reader(url)?;
    asked("eth_blockNumber", provider.get_block_number()).await
}

#[tokio::test]
async fn an_answer_is_read() {
    let url = endpoint("200 OK", r#"{"jsonrpc":"2.0","id":0,"result":"0x1f"}"#);
    assert_eq!(block_number(&url).await.unwrap(), 31);
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_that_says_what_came() {
    for (status, body, said) in [
        ("503 Service Unavailable", "later", "503"),
        ("200 OK", "<html>", "<html>"),
        (
            "200 OK",
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no such block"}}"#,
            "no such block",
        ),
    ] {
        let error = block_number(&endpoint(status, body)).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(said), "{text}");
        assert!(text.contains("eth_blockNumber"), "{text}");
    }
}

#[tokio::test]
async fn a_long_answer_is_not_read() {
    let body: &'static str = " ".repeat(3 << 20).leak();
    let error = block_number(&endpoint("200 OK", body)).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("limit"), "{text}");
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = block_number(&url).await.unwrap_err();
    assert!(matches!(error, ChainError::Rpc { .. }), "{error}");
}

#[test]
fn only_http_urls_with_a_host_are_endpoints() {
    for good in [
        "http://127.0.0.1:8545",
        "https://chain.example/key?a=b",
        "http://[::1]:8545/",
    ] {
        assert!(client(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "127.0.0.1:8545",
        "ws://127.0.0.1:8545",
        "http://",
        "http:///path",
        "file:///x",
    ] {
        assert!(matches!(client(bad), Err(ChainError::Endpoint)), "{bad}");
    }
}
