//! Negotiation of a protocol: yields the agreed protocol id and the bare stream.

use std::convert::Infallible;
use std::sync::Arc;

use futures::future::{Ready, ready};
use libp2p::core::upgrade::{InboundUpgrade, OutboundUpgrade, UpgradeInfo};
use libp2p::swarm::{Stream, StreamProtocol};

/// Upgrade that offers a list of protocol ids, most preferred first.
#[derive(Clone, Debug)]
pub struct StreamUpgrade {
    pub(crate) protocols: Arc<[StreamProtocol]>,
}

impl UpgradeInfo for StreamUpgrade {
    type Info = StreamProtocol;
    type InfoIter = Vec<StreamProtocol>;

    fn protocol_info(&self) -> Self::InfoIter {
        self.protocols.to_vec()
    }
}

impl InboundUpgrade<Stream> for StreamUpgrade {
    type Output = (Stream, StreamProtocol);
    type Error = Infallible;
    type Future = Ready<Result<Self::Output, Infallible>>;

    fn upgrade_inbound(self, stream: Stream, protocol: StreamProtocol) -> Self::Future {
        ready(Ok((stream, protocol)))
    }
}

impl OutboundUpgrade<Stream> for StreamUpgrade {
    type Output = (Stream, StreamProtocol);
    type Error = Infallible;
    type Future = Ready<Result<Self::Output, Infallible>>;

    fn upgrade_outbound(self, stream: Stream, protocol: StreamProtocol) -> Self::Future {
        ready(Ok((stream, protocol)))
    }
}
