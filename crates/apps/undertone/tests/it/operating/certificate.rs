//! Certificates of WebSocket with TLS: named in the configuration, renewed while the node runs, refused if damaged.

use std::fs;
use std::process::Command;

use undertone_node_process::Signal;

use super::support::Home;

/// Writes a new certificate and its key into the home; returns flags that name them.
fn renew(home: &Home) -> Vec<String> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (home.path("fullchain.pem"), home.path("privkey.pem"));
    fs::write(&chain, made.cert.pem()).unwrap();
    fs::write(&key, made.key_pair.serialize_pem()).unwrap();
    vec![
        "--websocket-secure-support=true".to_owned(),
        "--ws-port=0".to_owned(),
        format!("--websocket-secure-cert-path={}", chain.display()),
        format!("--websocket-secure-key-path={}", key.display()),
    ]
}

#[test]
fn a_node_takes_a_new_certificate_by_itself_and_on_sighup() {
    let home = Home::new();
    let flags = renew(&home);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let node = home.start(&flags);
    let info = node.json("/info");
    assert!(info.to_string().contains("/wss/p2p/"), "{info}");
    renew(&home);
    node.says("new connections get the certificate");
    fs::write(home.path("fullchain.pem"), "half a file").unwrap();
    node.says("the certificate is not renewed");
    node.says("fullchain.pem");
    node.signal(Signal::HUP);
    node.says("the configuration was read again");
    node.signal(Signal::TERM);
    assert_eq!(node.ended().code(), Some(0));
}

#[test]
fn a_file_that_is_no_certificate_ends_the_start_with_its_name_and_a_remedy() {
    let home = Home::new();
    let flags = renew(&home);
    fs::write(home.path("privkey.pem"), "no key").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
    command.args(["node", "--rln=false", "--tcp-port=0", "--rest=false"]);
    command.arg("--data-dir").arg(home.path("data")).args(flags);
    let ended = command.output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    for part in ["websocket-secure-key-path", "privkey.pem", "passphrase"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
