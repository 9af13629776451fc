//! Questions of the program to the host of the services.

use tokio::sync::oneshot;

use super::ServicesHost;
use crate::services::handle::FilterSubscriber;
use crate::services::totals::{RendezvousTotals, ServiceTotals};

/// Question of the program to the host.
#[derive(Debug)]
pub(crate) enum HostCall {
    /// Peers that are subscribed to messages; `None` without the service.
    Subscribers(oneshot::Sender<Option<Vec<FilterSubscriber>>>),
    /// Totals of the services.
    Totals(oneshot::Sender<ServiceTotals>),
}

impl ServicesHost {
    pub(super) fn on_call(&mut self, call: HostCall) {
        match call {
            HostCall::Subscribers(reply) => {
                // The caller may be gone.
                let _ = reply.send(self.subscribers());
            }
            HostCall::Totals(reply) => {
                let _ = reply.send(self.totals());
            }
        }
    }

    fn totals(&self) -> ServiceTotals {
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

    fn subscribers(&self) -> Option<Vec<FilterSubscriber>> {
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
