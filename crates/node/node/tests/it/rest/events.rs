//! The event stream over HTTP: access, headers, and clients of a server that limits and stops.

use std::net::SocketAddr;
use std::time::Duration;

use axum::{
    body::Body,
    http::{Request, StatusCode},
    response::Response,
};
use futures::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use undertone_gossip::MessageId;
use undertone_message::WakuMessage;
use undertone_node::handle::{Deliveries, Delivery, node_channel};
use undertone_node::rest::{
    Access, AccessToken, RestConfig, ServeLimits, TokenScope, router, serve,
};

use crate::rest::support::{Api, Script, bad_request, config, shard};

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(120);

const PATH: &str = "/events/v1/messages";
const TOPIC: &str = "/app/1/chat/proto";

async fn open(api: &Api, path: &str) -> Response {
    api.answer(Request::get(path).body(Body::empty()).unwrap())
        .await
}

/// Text of the stream up to and including `end`.
async fn until(response: Response, end: &str) -> String {
    let mut pieces = response.into_body().into_data_stream();
    let mut text = String::new();
    let read = async {
        while !text.contains(end) {
            let piece = pieces.next().await.expect("the stream goes on").unwrap();
            text += std::str::from_utf8(&piece).unwrap();
        }
    };
    let ended = tokio::time::timeout(HANG, read).await;
    assert!(ended.is_ok(), "{text}");
    text
}

fn last_id(text: &str) -> &str {
    let mut ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.next_back().unwrap()
}

#[tokio::test]
async fn a_stream_has_the_headers_that_browsers_and_proxies_need() {
    let api = Api::start(Script::default());
    let response = open(&api, PATH).await;
    assert_eq!(response.status(), StatusCode::OK);
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_client_comes_back_by_header_or_parameter_and_the_header_goes_first() {
    let api = Api::start(Script::default());
    let path = format!("{PATH}?contentTopics={TOPIC}&pubsubTopic=%2Fwaku%2F2%2Frs%2F66%2F0");
    let first = open(&api, &path).await;
    api.deliver(shard(0), WakuMessage::new("one", TOPIC));
    let text = until(first, "b25l").await;
    let early = last_id(&text).to_owned();
    api.deliver(shard(0), WakuMessage::new("two", TOPIC));
    api.deliver(shard(1), WakuMessage::new("elsewhere", TOPIC));
    api.deliver(shard(0), WakuMessage::new("three", TOPIC));
    let again = open(&api, &format!("{path}&cursor={early}")).await;
    let text = until(again, "dGhyZWU=").await;
    assert!(text.contains("dHdv") && !text.contains("b25l"), "{text}");
    assert!(!text.contains("ZWxzZXdoZXJl"), "{text}");
    let late = last_id(&text).to_owned();
    let request = Request::get(format!("{path}&cursor={early}"))
        .header("last-event-id", late)
        .body(Body::empty())
        .unwrap();
    let third = api.answer(request).await;
    api.deliver(shard(0), WakuMessage::new("four", TOPIC));
    let text = until(third, "Zm91cg==").await;
    assert!(
        !text.contains("dHdv") && !text.contains("dGhyZWU="),
        "{text}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let api = Api::start(Script::default());
    let answer = api.get(&format!("{PATH}?cursor=x")).await;
    let text = r#"Invalid cursor: "x" is not the id of an event"#;
    assert_eq!(answer, bad_request(text));
    let many: Vec<_> = (0..4097).map(|i| format!("/{i}")).collect();
    let (status, text) = api
        .get(&format!("{PATH}?contentTopics={}", many.join(",")))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
}

#[tokio::test]
async fn a_stream_needs_the_token_and_no_foreign_page_opens_it() {
    let token = AccessToken {
        secret: "secret".into(),
        scope: TokenScope::Everything,
    };
    let access = Access {
        token: Some(token),
        ..Access::default()
    };
    let api = Api::with_config(Script::default(), RestConfig { access, ..config() });
    let status = async |headers: &[(&str, &str)]| {
        let mut request = Request::get(PATH).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        api.answer(request).await.status()
    };
    let shown = ("authorization", "Bearer secret");
    assert_eq!(status(&[]).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&[shown]).await, StatusCode::OK);
    let evil = ("origin", "https://evil.example");
    assert_eq!(status(&[shown, evil]).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn streams_are_bounded_and_a_closed_one_makes_room() {
    let api = Api::start(Script::default());
    let mut streams = Vec::new();
    for _ in 0..1024 {
        let response = open(&api, PATH).await;
        assert_eq!(response.status(), StatusCode::OK);
        streams.push(response);
    }
    let refused = open(&api, PATH).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    streams.pop();
    assert_eq!(open(&api, PATH).await.status(), StatusCode::OK);
}

/// A server with these limits, what delivers to it, and what stops it.
async fn server(limits: ServeLimits) -> (SocketAddr, Deliveries, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (handle, endpoint) = node_channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        let _ = stopped.await;
    };
    tokio::spawn(serve(listener, router(handle, config()), limits, stopped));
    (address, endpoint.deliveries, stop)
}

fn deliver(deliveries: &Deliveries, payload: Vec<u8>) {
    let now = std::time::Instant::now();
    deliveries.deliver(&Delivery {
        pubsub_topic: shard(0),
        message: WakuMessage::new(payload, TOPIC),
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
    });
}

async fn connect(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {PATH} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads until the text contains `end`, or without one until the connection ends.
async fn read(stream: &mut TcpStream, end: Option<&str>) -> String {
    let mut text = String::new();
    let read = async {
        let mut bytes = vec![0; 64 * 1024];
        while end.is_none_or(|end| !text.contains(end)) {
            match stream.read(&mut bytes).await {
                Ok(0) | Err(_) => break,
                Ok(n) => text += &String::from_utf8_lossy(&bytes[..n]),
            }
        }
    };
    let ended = tokio::time::timeout(HANG, read).await;
    assert!(ended.is_ok(), "{text}");
    text
}

#[tokio::test]
async fn streams_take_no_places_from_requests_and_are_not_closed_for_age() {
    let limits = ServeLimits {
        connections_max: 2,
        head_timeout: Duration::from_millis(500),
        answer_timeout: Duration::from_millis(500),
    };
    let (address, deliveries, _stop) = server(limits).await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        let mut stream = connect(address).await;
        read(&mut stream, Some("id: ")).await;
        streams.push(stream);
    }
    for _ in 0..5 {
        let mut asking = TcpStream::connect(address).await.unwrap();
        let request = "GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        asking.write_all(request.as_bytes()).await.unwrap();
        assert!(read(&mut asking, None).await.contains("200 OK"));
    }
    // Longer than any request may take.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    deliver(&deliveries, b"still there".to_vec());
    for stream in &mut streams {
        let text = read(stream, Some("c3RpbGwgdGhlcmU=")).await;
        assert!(text.contains("c3RpbGwgdGhlcmU="), "{text}");
    }
}

#[tokio::test]
async fn a_stopped_server_ends_streams_with_a_last_event() {
    let (address, _deliveries, stop) = server(ServeLimits::default()).await;
    let mut stream = connect(address).await;
    read(&mut stream, Some("id: ")).await;
    stop.send(()).unwrap();
    let text = read(&mut stream, None).await;
    assert!(
        text.contains("event: closed\ndata: {\"reason\":\"shutdown\""),
        "{text}"
    );
    assert!(
        text.ends_with("0\r\n\r\n"),
        "the answer is complete: {text}"
    );
}

/// The client reads nothing while more comes than its buffers hold; then it reads, learns that it was too slow,
/// and comes back for the rest.
#[tokio::test]
async fn a_client_that_does_not_read_is_told_and_comes_back() {
    let (address, deliveries, _stop) = server(ServeLimits::default()).await;
    let mut slow = connect(address).await;
    read(&mut slow, Some("id: ")).await;
    let payload = vec![7; 1000];
    for _ in 0..16_384 {
        deliver(&deliveries, payload.clone());
        tokio::task::yield_now().await;
    }
    // A reader that keeps up is not bothered by the slow one.
    let mut quick = connect(address).await;
    read(&mut quick, Some("id: ")).await;
    deliver(&deliveries, b"last".to_vec());
    read(&mut quick, Some("bGFzdA==")).await;
    let text = read(&mut slow, None).await;
    let tail = &text[text.len().saturating_sub(300)..];
    assert!(
        tail.contains("event: closed\ndata: {\"reason\":\"slow\""),
        "{tail}"
    );
    let cursor = last_id(&text);
    let mut again = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {PATH}?cursor={cursor} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    again.write_all(request.as_bytes()).await.unwrap();
    let rest = read(&mut again, Some("bGFzdA==")).await;
    assert!(rest.contains("bGFzdA=="));
}
