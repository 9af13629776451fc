//! WebSocket with TLS: a client that trusts the node's certificate, and a certificate that is replaced.

use std::fs;
use std::path::PathBuf;

use libp2p::core::Endpoint;
use libp2p::core::transport::{DialOpts, PortUse};
use libp2p::core::upgrade::Version;
use libp2p::websocket::{self, tls};
use libp2p::{Transport as _, dns, noise, tcp, yamux};
use undertone_message::NetworkPreset;
use undertone_node::driver::{CertificateFiles, NodeOptions, RunningNode, start};
use undertone_node::{Keypair, Multiaddr, PeerId};
use undertone_relay::RelayConfig;

/// Folder with the certificate of a node.
struct Folder(tempfile::TempDir);

impl Folder {
    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a new certificate and its key; returns the certificate.
    fn renew(&self) -> tls::Certificate {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a name");
        fs::write(self.file("fullchain.pem"), made.cert.pem()).expect("space");
        fs::write(self.file("privkey.pem"), made.key_pair.serialize_pem()).expect("space");
        tls::Certificate::new(made.cert.der().to_vec())
    }
}

async fn node(folder: &Folder) -> RunningNode {
    let preset = NetworkPreset::by_name("local").expect("a known network");
    let mut relay = RelayConfig::for_network(&preset);
    relay.rln = None;
    let options = NodeOptions::for_network(&preset)
        .listen(["/ip4/127.0.0.1/tcp/0/wss".parse().expect("a constant")])
        .relay(relay)
        .certificate(CertificateFiles {
            chain: folder.file("fullchain.pem"),
            key: folder.file("privkey.pem"),
        });
    start(options).await.expect("loopback is there")
}

/// Dials as a client does that trusts one certificate; returns the peer that it reached.
async fn dial(node: &RunningNode, trusted: &tls::Certificate) -> Result<PeerId, String> {
    let tcp = tcp::tokio::Transport::new(tcp::Config::default());
    let named = dns::tokio::Transport::system(tcp).expect("DNS is configured");
    let mut client = websocket::Config::new(named);
    let mut trust = tls::Config::builder();
    trust.add_trust(trusted).expect("a certificate");
    client.set_tls_config(trust.finish());
    let keypair = Keypair::generate_ed25519();
    let mut transport = client
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(&keypair).expect("any key does"))
        .multiplex(yamux::Config::default());
    let address = node.addresses[0].to_string();
    let address = address.replace("/ip4/127.0.0.1", "/dns4/localhost");
    let address: Multiaddr = address.parse().expect("an address");
    let options = DialOpts {
        role: Endpoint::Dialer,
        port_use: PortUse::New,
    };
    let dialling = transport.dial(address, options).expect("it is wss");
    let reached = dialling.await.map_err(|error| format!("{error:?}"));
    reached.map(|(peer, _)| peer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_trusts_the_certificate_reaches_the_node_over_wss() {
    let folder = Folder(tempfile::tempdir().expect("a folder"));
    let first = folder.renew();
    let node = node(&folder).await;
    assert!(node.addresses[0].to_string().contains("/wss/p2p/"));
    assert_eq!(dial(&node, &first).await, Ok(node.peer_id));
    // The files are replaced as certbot does it, and the node told.
    let second = folder.renew();
    node.handle.renew_certificate().await.expect("it runs");
    assert_eq!(dial(&node, &second).await, Ok(node.peer_id));
    let refused = dial(&node, &first).await.expect_err("it is another one");
    assert!(refused.contains("Certificate"), "{refused}");
    // A file that cannot be used leaves the former certificate.
    fs::write(folder.file("privkey.pem"), "none").expect("space");
    node.handle.renew_certificate().await.expect("it runs");
    assert_eq!(dial(&node, &second).await, Ok(node.peer_id));
    node.stop().await;
}
