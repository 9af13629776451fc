//! Protocols whose streams a node accepts, by the services that it offers.

use undertone_services::filter;
use undertone_services::host::RequestProtocol;
use undertone_services::rate_limit::LimitedService;

use super::acceptor::{AcceptedProtocol, StreamForm};
use super::{ServicesConfig, sync};

/// Returns the protocols whose streams are accepted. Pushed messages are always accepted, because the program may
/// subscribe at any time.
pub(super) fn accepted(config: &ServicesConfig) -> Vec<AcceptedProtocol> {
    let accept = |protocol, frame_bytes_max, form| AcceptedProtocol {
        protocol,
        frame_bytes_max,
        form,
    };
    let push_bytes_max = filter::FilterCodecLimits::default().max_push_bytes;
    let mut accepted = vec![accept(
        filter::PUSH_PROTOCOL_ID,
        push_bytes_max,
        StreamForm::Push,
    )];
    let offered = RequestProtocol::ALL.into_iter();
    let offered = offered.filter(|protocol| is_offered(config, protocol.service()));
    accepted.extend(offered.map(|protocol| {
        let form = StreamForm::Request(protocol);
        accept(protocol.id(), protocol.max_request_bytes(), form)
    }));
    if config
        .store
        .as_ref()
        .is_some_and(|store| store.sync.is_some())
    {
        // The acceptor does not read these streams.
        let sync = sync::accepted().map(|protocol| accept(protocol, 0, StreamForm::Session));
        accepted.extend(sync);
    }
    accepted
}

fn is_offered(config: &ServicesConfig, service: LimitedService) -> bool {
    match service {
        LimitedService::Store => config.store.is_some(),
        LimitedService::Filter => config.filter,
        LimitedService::Lightpush => config.lightpush,
        LimitedService::PeerExchange => config.peer_exchange,
        LimitedService::Rendezvous => config.rendezvous,
    }
}
