//! State of the host that the program reads.

use super::ServicesHost;
use crate::services::handle::FilterSubscriber;
use crate::services::totals::{RendezvousTotals, ServiceTotals};

impl ServicesHost {
    /// Totals of the services.
    pub(in crate::services) fn totals(&self) -> ServiceTotals {
        let machines = &self.machines;
        ServiceTotals {
            filter_peers: machines.filter.as_ref().map(|f| f.usage().peers),
            records_sent: machines.exchange.as_ref().map(|e| e.stats().enrs),
            rendezvous: machines.rendezvous.as_ref().map(|point| RendezvousTotals {
                register_requests: point.stats().register_requests,
                discover_requests: point.stats().discover_requests,
                registrations: point.registrations(),
                namespaces: point.namespaces(),
            }),
            ..self.totals.clone()
        }
    }

    /// Peers that are subscribed to messages; `None` without the service.
    pub(in crate::services) fn subscribers(&self) -> Option<Vec<FilterSubscriber>> {
        let filter = self.machines.filter.as_ref()?;
        let subscribers = filter.subscriptions().into_iter().filter_map(|one| {
            Some(FilterSubscriber {
                peer: self.peers.peer(one.peer)?,
                criteria: one.criteria,
            })
        });
        Some(subscribers.collect())
    }
}
