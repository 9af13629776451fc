//! Keys of the transports beside TCP.

use super::{flag_error, load_flags};

/// Keys that are valid only together.
pub(super) const SECURE: [(&str, &str); 3] = [
    ("websocket-secure-support", "true"),
    ("websocket-secure-cert-path", "fullchain.pem"),
    ("websocket-secure-key-path", "privkey.pem"),
];

#[test]
fn a_certificate_needs_its_key_and_is_on_the_websocket_port() {
    let config = load_flags(&SECURE).unwrap();
    assert_eq!(config.websocket_port, Some(8_000));
    let files = config.websocket_certificate.unwrap();
    assert_eq!(files.chain.to_str(), Some("fullchain.pem"));
    assert_eq!(files.key.to_str(), Some("privkey.pem"));
    for (left_out, remedy) in [
        (1, "name one with websocket-secure-cert-path"),
        (2, "name it with websocket-secure-key-path"),
    ] {
        let mut some = SECURE.to_vec();
        some.remove(left_out);
        let error = load_flags(&some).unwrap_err().to_string();
        assert!(error.contains(remedy), "{error}");
    }
    let error = flag_error("websocket-secure-cert-path", "fullchain.pem");
    assert!(error.contains("websocket-secure-support"), "{error}");
}

#[test]
fn announced_addresses_come_from_the_keys_of_nwaku() {
    let announced = |flags: &[(&str, &str)]| load_flags(flags).unwrap().announced;
    assert_eq!(announced(&[]), Default::default());
    let flags = [
        ("nat", "extip:203.0.113.7"),
        ("dns4-domain-name", "node.example"),
        ("ext-multiaddr", "/dns4/proxy.example/tcp/443/wss"),
    ];
    let all = announced(&flags);
    assert_eq!(all.ip, Some([203, 0, 113, 7].into()));
    assert_eq!(all.name.as_deref(), Some("node.example"));
    assert_eq!((all.more.len(), all.only_more), (1, false));
    for (key, value, remedy) in [
        ("nat", "upnp", "forward them there"),
        ("nat", "extip:0.0.0.0", "public IP address"),
        ("nat", "203.0.113.7", "extip:"),
        (
            "dns4-domain-name",
            "https://node.example",
            "without protocol",
        ),
        ("ext-multiaddr", "node.example", "multiaddresses"),
        ("ext-multiaddr-only", "true", "ext-multiaddr"),
    ] {
        let error = flag_error(key, value);
        assert!(error.contains(remedy), "{key} = {value}: {error}");
    }
}
