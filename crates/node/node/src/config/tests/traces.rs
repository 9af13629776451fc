//! Keys of traces.

use super::{flag_error, load_flags};

/// Key without which the others mean nothing.
pub(super) const COLLECTOR: (&str, &str) = ("otlp-endpoint", "http://127.0.0.1:4318");

#[test]
fn spans_go_to_the_path_that_the_protocol_names() {
    assert_eq!(load_flags(&[]).unwrap().traces, None);
    for (endpoint, url) in [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("http://[::1]:4318/", "http://[::1]:4318/v1/traces"),
        (
            "https://collector.example/otlp",
            "https://collector.example/otlp/v1/traces",
        ),
    ] {
        let config = load_flags(&[("otlp-endpoint", endpoint)]).unwrap();
        let traces = config.traces.unwrap();
        assert_eq!((traces.url.as_str(), traces.sampled_share), (url, 1.0));
    }
    for endpoint in [
        "127.0.0.1:4318",
        "grpc://a:4317",
        "http://",
        "http:///x",
        "http://a b",
        "http://a?b",
    ] {
        let error = flag_error("otlp-endpoint", endpoint);
        assert!(error.contains("http://HOST:PORT"), "{endpoint}: {error}");
    }
    let error = flag_error("otlp-sampled-share", "1.5");
    assert!(error.contains("0 to 1"), "{error}");
}
