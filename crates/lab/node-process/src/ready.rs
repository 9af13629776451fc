use std::net::SocketAddr;

use serde_json::Value;

/// Facts that a node started with `--json` prints in one line once it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Identity of the node.
    pub peer_id: String,
    /// Multiaddresses of the node, with `/p2p`.
    pub listen_addresses: Vec<String>,
    /// Address of the REST server.
    pub rest: SocketAddr,
}

impl Ready {
    /// Parses the line; returns `None` for any other line, and for that of a node without REST.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let ready: Value = serde_json::from_str(line).ok()?;
        let addresses = ready["listenAddresses"].as_array()?.iter();
        Some(Self {
            peer_id: ready["peerId"].as_str()?.to_owned(),
            listen_addresses: addresses
                .map(|address| Some(address.as_str()?.to_owned()))
                .collect::<Option<_>>()?,
            rest: ready["rest"]
                .as_str()?
                .strip_prefix("http://")?
                .parse()
                .ok()?,
        })
    }
}
