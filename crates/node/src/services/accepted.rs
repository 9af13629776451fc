//! Protocols whose streams a node accepts, by the services that it offers.

use undertone_services::store::ServerLimits;
use undertone_services::{filter, lightpush, peer_exchange, rendezvous, store};

use super::acceptor::{AcceptedProtocol, StreamForm};
use super::{ServicesConfig, sync};

/// Protocols whose streams are accepted. Pushed messages are always, because a program may subscribe at any
/// time.
pub(super) fn accepted(config: &ServicesConfig) -> Vec<AcceptedProtocol> {
    let accept = |protocol, frame_bytes_max, form| AcceptedProtocol {
        protocol,
        frame_bytes_max,
        form,
    };
    let request =
        |protocol, frame_bytes_max| accept(protocol, frame_bytes_max, StreamForm::Request);
    let push_bytes_max = filter::FilterCodecLimits::default().max_push_bytes;
    let mut accepted = vec![accept(
        filter::PUSH_PROTOCOL_ID,
        push_bytes_max,
        StreamForm::Push,
    )];
    if config.store.is_some() {
        let max = ServerLimits::default().request.max_request_bytes;
        accepted.push(request(store::PROTOCOL_ID, max));
    }
    if config
        .store
        .as_ref()
        .is_some_and(|store| store.sync.is_some())
    {
        // These streams are not read by the acceptor.
        let sync = sync::accepted().map(|protocol| accept(protocol, 0, StreamForm::Session));
        accepted.extend(sync);
    }
    if config.filter {
        let max = filter::FilterCodecLimits::default().max_request_bytes;
        accepted.push(request(filter::SUBSCRIBE_PROTOCOL_ID, max));
    }
    if config.lightpush {
        let max = lightpush::LightpushCodecLimits::default().max_request_bytes;
        accepted.push(request(lightpush::PROTOCOL_ID, max));
        accepted.push(request(lightpush::legacy::PROTOCOL_ID, max));
    }
    if config.peer_exchange {
        let max = peer_exchange::PeerExchangeCodecLimits::default().max_request_bytes;
        accepted.push(request(peer_exchange::PROTOCOL_ID, max));
    }
    if config.rendezvous {
        let max = rendezvous::RendezvousCodecLimits::default().max_request_bytes;
        accepted.push(request(rendezvous::PROTOCOL_ID, max));
    }
    accepted
}
