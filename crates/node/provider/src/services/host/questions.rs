//! State of the host as read by the program.

use super::HostDriver;
use crate::services::handle::FilterSubscriber;
use crate::services::totals::{RendezvousTotals, ServiceTotals};

impl HostDriver {
    /// Returns the totals of the services.
    pub(in crate::services) fn totals(&self) -> ServiceTotals {
        let machines = self.host.machines();
        ServiceTotals {
            protocols: self.host.totals().clone(),
            filter_peers: machines.filter.as_ref().map(|f| f.usage().peers),
            records_sent: machines.peer_exchange.as_ref().map(|e| e.stats().enrs),
            rendezvous: machines.rendezvous.as_ref().map(|point| RendezvousTotals {
                register_requests: point.stats().register_requests,
                discover_requests: point.stats().discover_requests,
                registrations: point.registrations(),
                namespaces: point.namespaces(),
            }),
            ..self.totals.clone()
        }
    }

    /// Returns the peers with subscriptions; `None` without the service.
    pub(in crate::services) fn subscribers(&self) -> Option<Vec<FilterSubscriber>> {
        let filter = self.host.machines().filter.as_ref()?;
        let subscribers = filter.subscriptions().into_iter().filter_map(|one| {
            Some(FilterSubscriber {
                peer: self.peers.peer(one.peer)?,
                criteria: one.criteria,
            })
        });
        Some(subscribers.collect())
    }
}
