//! Discovery of go-ethereum: its discv5 among nodes of ours, and a list that it has signed.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;
use undertone_conformance::PeerCommand;

use crate::client::Client;
use crate::discv5::find_each_other;
use crate::dns_list::{DOMAIN, find_listed};
use crate::zone::Zone;

/// The program, which the first test builds.
fn program() -> PeerCommand {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-discv5");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("go/discv5");
        let mut build = Command::new("go");
        // Whether the folder is a repository is no matter of this program.
        build
            .args(["build", "-buildvcs=false", "-o"])
            .arg(&built)
            .arg(".");
        let status = build.current_dir(folder).status().unwrap();
        assert!(status.success(), "go build: {status}");
        built
    });
    PeerCommand::new("go-discv5", built)
}

#[tokio::test]
#[ignore = "needs Go; cargo xtask test --only services"]
async fn go_ethereums_discv5_and_ours_find_each_other() {
    find_each_other(&program(), Ipv4Addr::new(127, 0, 14, 0)).await;
}

#[tokio::test]
#[ignore = "needs Go; cargo xtask test --only services"]
async fn the_nodes_of_a_list_that_go_ethereum_has_signed_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut signer = Client::start(&program(), folder.path()).await;
    find_listed(Ipv4Addr::new(127, 0, 15, 0), async |records| {
        let command = json!({"cmd": "sign", "records": records, "domain": DOMAIN});
        let signed = signer.must("sign the list", command).await;
        let texts = serde_json::from_value(signed["texts"].clone()).unwrap();
        Zone::new(signed["url"].as_str().unwrap(), texts)
    })
    .await;
    signer.quit().await;
}
