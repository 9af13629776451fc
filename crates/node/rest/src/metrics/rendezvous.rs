//! Metrics of a rendezvous point, under the names of the reference node's libp2p.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::MetricsPage;
use undertone_provider::services::RendezvousTotals;

/// Collector of the metrics of a rendezvous point.
#[derive(Clone, Copy, Debug)]
pub(super) struct RendezvousNames(pub(super) RendezvousTotals);

impl Collector for RendezvousNames {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, totals) = (MetricsPage(encoder), &self.0);
        for (name, help, total) in [
            (
                "libp2p_rendezvous_register",
                "Requests of peers to register",
                totals.register_requests,
            ),
            (
                "libp2p_rendezvous_discover",
                "Questions of peers for registrations",
                totals.discover_requests,
            ),
        ] {
            page.counter(name, help, total)?;
        }
        let (name, help) = ("libp2p_rendezvous_registered", "Registrations kept");
        page.gauge(name, help, totals.registrations)?;
        let (name, help) = (
            "libp2p_rendezvous_namespaces",
            "Namespaces with registrations",
        );
        page.gauge(name, help, totals.namespaces)
    }
}
