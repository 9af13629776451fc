//! The services' state machines behind one interface.

use bytes::Bytes;
use undertone_gossip::Time;

use super::{Output, RequestProtocol};
use crate::filter::{self, FilterServer};
use crate::lightpush::{self, LightpushServer, PushVersion};
use crate::peer_exchange::{self, PeerExchangeServer};
use crate::rate_limit::LimitedService;
use crate::rendezvous::{self, RendezvousServer};
use crate::store::{self, StoreServer};
use crate::{PeerNo, RequestNo};

/// State machines of the mounted services; `None` for a service that is not mounted.
#[derive(Debug, Default)]
pub struct Machines {
    /// Server of store.
    pub store: Option<StoreServer>,
    /// Server of filter.
    pub filter: Option<FilterServer>,
    /// Server of peer exchange.
    pub peer_exchange: Option<PeerExchangeServer>,
    /// Server of rendezvous.
    pub rendezvous: Option<RendezvousServer>,
    /// Server of lightpush, both versions.
    pub lightpush: Option<LightpushServer>,
}

impl Machines {
    /// Order in which the machines receive events and are polled for outputs.
    pub(super) const ORDER: [LimitedService; 5] = [
        LimitedService::Store,
        LimitedService::Filter,
        LimitedService::PeerExchange,
        LimitedService::Rendezvous,
        LimitedService::Lightpush,
    ];

    pub(super) fn get(&self, service: LimitedService) -> Option<&dyn Machine> {
        match service {
            LimitedService::Store => self.store.as_ref().map(|one| one as _),
            LimitedService::Filter => self.filter.as_ref().map(|one| one as _),
            LimitedService::PeerExchange => self.peer_exchange.as_ref().map(|one| one as _),
            LimitedService::Rendezvous => self.rendezvous.as_ref().map(|one| one as _),
            LimitedService::Lightpush => self.lightpush.as_ref().map(|one| one as _),
        }
    }

    pub(super) fn get_mut(&mut self, service: LimitedService) -> Option<&mut dyn Machine> {
        match service {
            LimitedService::Store => self.store.as_mut().map(|one| one as _),
            LimitedService::Filter => self.filter.as_mut().map(|one| one as _),
            LimitedService::PeerExchange => self.peer_exchange.as_mut().map(|one| one as _),
            LimitedService::Rendezvous => self.rendezvous.as_mut().map(|one| one as _),
            LimitedService::Lightpush => self.lightpush.as_mut().map(|one| one as _),
        }
    }
}

/// Event that any machine may receive.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// A request within the rate limit.
    Request(Asked),
    /// A request beyond it.
    TooMany(Asked),
    PeerGone(PeerNo),
    Tick,
}

/// Request of a peer.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) peer: PeerNo,
    pub(super) request: RequestNo,
    pub(super) protocol: RequestProtocol,
    pub(super) bytes: Bytes,
}

/// State machine of one service. Its outputs name requests by their numbers.
pub(super) trait Machine {
    fn take(&mut self, now: Time, event: Event);

    fn give(&mut self) -> Option<Output<RequestNo>>;

    fn timer(&self) -> Option<Time>;
}

impl Machine for StoreServer {
    fn take(&mut self, now: Time, event: Event) {
        use store::server::Input;
        let input = match event {
            Event::Request(asked) => Input::Request {
                peer: asked.peer,
                request: asked.request,
                bytes: asked.bytes,
            },
            Event::TooMany(Asked { request, .. }) => Input::TooMany { request },
            Event::PeerGone(peer) => Input::PeerGone(peer),
            Event::Tick => Input::Tick,
        };
        self.handle(now, input);
    }

    fn give(&mut self) -> Option<Output<RequestNo>> {
        use store::server::Output as Out;
        Some(match self.poll()? {
            Out::Respond { request: to, bytes } => Output::Respond { to, bytes },
            Out::Query { query, content } => Output::Query { query, content },
        })
    }

    fn timer(&self) -> Option<Time> {
        self.next_timeout()
    }
}

impl Machine for FilterServer {
    fn take(&mut self, now: Time, event: Event) {
        use filter::Input;
        let input = match event {
            Event::Request(asked) => Input::Request {
                peer: asked.peer,
                request: asked.request,
                bytes: asked.bytes,
            },
            Event::TooMany(Asked { request, .. }) => Input::TooMany { request },
            Event::PeerGone(peer) => Input::PeerGone(peer),
            Event::Tick => Input::Tick,
        };
        self.handle(now, input);
    }

    fn give(&mut self) -> Option<Output<RequestNo>> {
        use filter::Output as Out;
        Some(match self.poll()? {
            Out::Respond { request: to, bytes } => Output::Respond { to, bytes },
            Out::Push { peer, bytes } => Output::Push { peer, bytes },
            Out::Drop { peer } => Output::Drop { peer },
        })
    }

    fn timer(&self) -> Option<Time> {
        self.next_timeout()
    }
}

impl Machine for PeerExchangeServer {
    fn take(&mut self, now: Time, event: Event) {
        use peer_exchange::Input;
        let input = match event {
            Event::Request(Asked { request, bytes, .. }) => Input::Request { request, bytes },
            Event::TooMany(Asked { request, .. }) => Input::TooMany { request },
            // Every answer is given at once.
            Event::PeerGone(_) | Event::Tick => return,
        };
        self.handle(now, input);
    }

    fn give(&mut self) -> Option<Output<RequestNo>> {
        let peer_exchange::Output::Respond { request: to, bytes } = self.poll()?;
        Some(Output::Respond { to, bytes })
    }

    fn timer(&self) -> Option<Time> {
        None
    }
}

impl Machine for RendezvousServer {
    fn take(&mut self, now: Time, event: Event) {
        use rendezvous::Input;
        let input = match event {
            Event::Request(asked) => Input::Request {
                peer: asked.peer,
                request: asked.request,
                bytes: asked.bytes,
            },
            Event::TooMany(Asked { request, bytes, .. }) => Input::TooMany { request, bytes },
            Event::PeerGone(peer) => Input::PeerGone(peer),
            Event::Tick => Input::Tick,
        };
        self.handle(now, input);
    }

    fn give(&mut self) -> Option<Output<RequestNo>> {
        use rendezvous::Output as Out;
        Some(match self.poll()? {
            Out::Respond { request: to, bytes } => Output::Respond { to, bytes },
            Out::Close { request: to } => Output::Close { to },
            Out::CheckRecord {
                request: check,
                peer,
                record,
            } => Output::CheckRecord {
                check,
                peer,
                record,
            },
        })
    }

    fn timer(&self) -> Option<Time> {
        self.next_timeout()
    }
}

impl Machine for LightpushServer {
    fn take(&mut self, now: Time, event: Event) {
        use lightpush::Input;
        let input = match event {
            Event::Request(asked) => Input::Request {
                peer: asked.peer,
                request: asked.request,
                version: version(asked.protocol),
                bytes: asked.bytes,
            },
            Event::TooMany(asked) => Input::TooMany {
                request: asked.request,
                version: version(asked.protocol),
            },
            Event::PeerGone(peer) => Input::PeerGone(peer),
            Event::Tick => Input::Tick,
        };
        self.handle(now, input);
    }

    fn give(&mut self) -> Option<Output<RequestNo>> {
        use lightpush::Output as Out;
        Some(match self.poll()? {
            Out::Respond { request: to, bytes } => Output::Respond { to, bytes },
            Out::Publish {
                publish,
                pubsub_topic,
                message,
            } => Output::Publish {
                publish,
                pubsub_topic,
                message,
            },
        })
    }

    fn timer(&self) -> Option<Time> {
        self.next_timeout()
    }
}

fn version(protocol: RequestProtocol) -> PushVersion {
    match protocol {
        RequestProtocol::LegacyLightpush => PushVersion::V2,
        _ => PushVersion::V3,
    }
}
