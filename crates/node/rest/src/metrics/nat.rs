//! Metrics of NAT and firewall traversal: reachability, the certificate, and circuits.

use std::fmt;

use prometheus_client::metrics::MetricType;

use super::MetricsPage;
use undertone_network::command::{MetricsSnapshot, Reachable};

impl MetricsPage<'_> {
    pub(super) fn nat(&mut self, snapshot: &MetricsSnapshot) -> fmt::Result {
        let totals = &snapshot.nat;
        let answers = [
            ("yes", Reachable::Yes),
            ("no", Reachable::No),
            ("unknown", Reachable::Unknown),
        ];
        let answers =
            answers.map(|(name, answer)| (name, usize::from(snapshot.reachable == answer)));
        let help = "What peers say about reaching this node: 1 at their answer";
        self.gauges("reachable", help, "answer", answers.into_iter())?;
        let name = "certificate_expires_timestamp_seconds";
        let help = "End of the certificate of the WebSocket port, seconds since 1970; no value without one";
        let mut metric = self.metric(name, help, None, MetricType::Gauge)?;
        if let Some(unix_s) = snapshot.certificate_expires_unix_s {
            metric.encode_gauge(&unix_s)?;
        }
        let outcomes = [
            ("accepted", totals.reservations),
            ("denied", totals.reservations_denied),
        ];
        let help = "Peers that asked to be reached through this node";
        self.counters(
            "circuit_reservations",
            help,
            "outcome",
            outcomes.into_iter(),
        )?;
        let outcomes = [
            ("accepted", totals.circuits),
            ("denied", totals.circuits_denied),
        ];
        let help = "Circuits of others through this node";
        self.counters("circuits", help, "outcome", outcomes.into_iter())?;
        let help = "Own connections through relays";
        self.counter("relayed_connections", help, totals.relayed)?;
        let outcomes = [
            ("direct", totals.holes_punched),
            ("failed", totals.holes_failed),
        ];
        let help = "Attempts to replace connections through relays by direct ones";
        self.counters("holes_punched", help, "outcome", outcomes.into_iter())
    }
}
