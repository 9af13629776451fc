//! Client of the victim's services at a chosen address.

use std::net::Ipv4Addr;

use libp2p::identity::Keypair;

use super::node::Target;
use super::proxy::Proxy;
use super::{HostileError, asks};
use crate::raw::{Inbound, RawClient};

/// Connected client of a node's services; a drop closes the connection.
pub struct ServiceClient {
    /// Connection to the node.
    pub raw: RawClient,
    /// Proxy that dials from the chosen address, which libp2p cannot do.
    _proxy: Proxy,
}

impl ServiceClient {
    /// Connects with a new identity from the address `from`. Pushed messages go to `pushes`; if that is
    /// `None`, they are accepted but never read.
    pub async fn connect(
        from: Ipv4Addr,
        to: Target,
        pushes: Inbound,
    ) -> Result<Self, HostileError> {
        let proxy = Proxy::start(Ipv4Addr::LOCALHOST, to.socket, from).await?;
        let key = Keypair::generate_ed25519();
        let address = to.addr_at(proxy.addr());
        let raw = RawClient::dial(key, &address, asks::PUSH, pushes).await?;
        Ok(Self { raw, _proxy: proxy })
    }
}
