use super::*;

const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

#[test]
fn a_url_gives_scheme_and_host_and_nothing_that_may_be_a_key() {
    for (url, scheme, host) in [
        ("https://rpc.example", "https", "rpc.example"),
        (
            "https://user:secret@rpc.example:8545/v3/key?k=1",
            "https",
            "rpc.example:8545",
        ),
        ("ws://[::1]:8546/", "ws", "[::1]:8546"),
        ("http://127.0.0.1:8545", "http", "127.0.0.1:8545"),
        ("https://rpc.example?key=a@b", "https", "rpc.example"),
    ] {
        let read = EndpointUrl::parse(url, &SCHEMES).expect(url);
        assert_eq!((read.scheme.as_str(), read.host.as_str()), (scheme, host));
    }
}

#[test]
fn what_cannot_be_asked_is_no_url_and_its_error_holds_no_key() {
    for url in [
        "ftp://rpc.example/secret",
        "rpc.example/secret",
        "https:///secret",
        "https://rpc.example/v3/<secret>",
        "https://rpc.example:port/secret",
        "https://rpc.example:0/secret",
        "https://rpc.example:99999/secret",
        "https://[::1/secret",
        "https://rpc.example/a secret",
        "https://user:secret@/path",
    ] {
        let error = EndpointUrl::parse(url, &SCHEMES)
            .expect_err(url)
            .to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
