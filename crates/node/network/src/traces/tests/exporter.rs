//! Exporters with collectors that are away, slow, or refuse.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use super::*;
use crate::traces::queue::{BATCH_MAX, WAITING_MAX};
use crate::traces::{SpanId, SpanKind, TraceId, TraceTotals};

fn span() -> TraceSpan {
    TraceSpan {
        trace: TraceId([1; 16]),
        id: SpanId([2; 8]),
        parent: None,
        name: "message",
        kind: SpanKind::Consumer,
        start: Instant::now(),
        end: Instant::now(),
        attributes: Vec::new(),
        failure: None,
    }
}

fn exporter(listener: &TcpListener) -> (Arc<SpanQueue>, TraceExporter) {
    let queue = Arc::<SpanQueue>::default();
    let url = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let exporter = TraceExporter::start(url, PeerId::random(), queue.clone()).unwrap();
    (queue, exporter)
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// Reads one request and answers it with `status` and `body`.
fn answer(stream: TcpStream, status: &str, body: &[u8]) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    let mut stream = reader.into_inner();
    let len = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {len}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
}

/// Totals once there are `spans` of them.
async fn totals(queue: &SpanQueue, spans: u64) -> TraceTotals {
    loop {
        let totals = queue.totals();
        if totals.taken + totals.dropped + totals.lost >= spans {
            return totals;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn spans_that_a_collector_refuses_are_counted() {
    let listener = listener();
    let (queue, exporter) = exporter(&listener);
    (0..10).for_each(|_| queue.push(span()));
    let collector = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // Seven rejected spans, as OpenTelemetry's library writes it.
        answer(stream, "200 OK", &[0x0a, 2, 8, 7]);
    });
    exporter.finish().await;
    collector.join().unwrap();
    let expected = TraceTotals {
        taken: 3,
        dropped: 0,
        lost: 7,
    };
    assert_eq!(queue.totals(), expected);
}

/// More than one batch waits when the node stops.
#[tokio::test]
async fn all_that_waits_at_the_end_is_posted() {
    let listener = listener();
    let (queue, exporter) = exporter(&listener);
    let spans = 3 * BATCH_MAX + 1;
    (0..spans).for_each(|_| queue.push(span()));
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            answer(stream, "200 OK", b"");
        }
    });
    exporter.finish().await;
    let expected = TraceTotals {
        taken: spans as u64,
        ..TraceTotals::default()
    };
    assert_eq!(queue.totals(), expected);
}

#[tokio::test]
async fn a_collector_that_is_away_costs_spans_and_nothing_else() {
    // Nothing listens there any more.
    let (queue, exporter) = exporter(&listener());
    queue.push(span());
    let after_one = totals(&queue, 1).await;
    assert_eq!((after_one.taken, after_one.lost), (0, 1));
    exporter.finish().await;
    queue.push(span());
    assert_eq!(queue.totals().dropped, 1, "the exporter has ended");
}

#[tokio::test]
async fn a_collector_in_trouble_gets_the_spans_of_later() {
    let listener = listener();
    let (queue, exporter) = exporter(&listener);
    queue.push(span());
    let (stream, _) = listener.accept().unwrap();
    answer(stream, "503 Service Unavailable", b"");
    assert_eq!(totals(&queue, 1).await.lost, 1);
    queue.push(span());
    let (stream, _) = listener.accept().unwrap();
    answer(stream, "200 OK", b"");
    assert_eq!(totals(&queue, 2).await.taken, 1);
    exporter.finish().await;
}

/// The collector accepts the connection and never answers. Meanwhile, further spans fill a bounded queue.
#[tokio::test]
async fn a_slow_collector_leaves_a_bounded_queue() {
    let listener = listener();
    let (queue, _exporter) = exporter(&listener);
    queue.push(span());
    let (_stream, _) = listener.accept().unwrap();
    (0..WAITING_MAX + 5).for_each(|_| queue.push(span()));
    assert_eq!(queue.totals().dropped, 5);
}
