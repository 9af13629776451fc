//! Requests and answers as OpenTelemetry's own library writes them (opentelemetry-proto 1.45.2 for Python).

use std::time::Duration;

use super::*;
use crate::traces::{SpanId, SpanKind, TraceId};

const SECOND_NS: u64 = 1_000_000_000;

/// Two spans in one scope. The first one is later than the reading of the clocks; the second one begins before it.
const SCOPE_SPANS: &str = "0a100a0e756e646572746f6e652d6e6f6465126c0a10000102030405060708090a0b0c0d0e0f\
    12080101010101010101220802020202020202022a076d657373616765300539000064a7b3b6e00d41808482a7b3b6e00d4a\
    190a05746f70696312100a0e2f77616b752f322f72732f312f304a0c0a056279746573120318ac0212430a10000102030405\
    060708090a0b0c0d0e0f120803030303030303032a046469616c300339c0bd54a7b3b6e00d41000064a7b3b6e00d7a0b1207\
    726566757365641802";

/// Answer that rejects seven spans, with a reason.
const REFUSAL: &str = "0a0c08071208746f6f206d616e79";

#[test]
fn spans_are_encoded_as_the_library_of_opentelemetry_does() {
    let moment = Instant::now() + Duration::from_secs(1);
    let clock = ClockPair {
        moment,
        unix_ns: 1_000_000_000 * SECOND_NS,
    };
    let trace = TraceId(std::array::from_fn(|i| i as u8));
    let received = TraceSpan {
        trace,
        id: SpanId([1; 8]),
        parent: Some(SpanId([2; 8])),
        name: "message",
        kind: SpanKind::Consumer,
        start: moment,
        end: moment + Duration::from_millis(2),
        attributes: vec![
            ("topic", "/waku/2/rs/1/0".into()),
            ("bytes", 300_u64.into()),
        ],
        failure: None,
    };
    let dialled = TraceSpan {
        trace,
        id: SpanId([3; 8]),
        parent: None,
        name: "dial",
        kind: SpanKind::Client,
        start: moment - Duration::from_millis(1),
        end: moment,
        attributes: Vec::new(),
        failure: Some("refused".into()),
    };
    let encoded = scope_spans(&[received, dialled], clock);
    assert_eq!(hex::encode(encoded), SCOPE_SPANS);
}

#[test]
fn a_collector_may_refuse_some_spans() {
    assert_eq!(refused(&hex::decode(REFUSAL).unwrap()), 7);
    assert_eq!(refused(b""), 0);
    // What is no answer of OTLP.
    assert_eq!(refused(b"<html>"), 0);
}
