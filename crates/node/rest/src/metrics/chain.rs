//! Metrics of following the chain that has the membership contract.

use std::fmt;
use std::time::UNIX_EPOCH;

use prometheus_client::encoding::NoLabelSet;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;
use undertone_membership::evm::{ChainStatus, EndpointCosts, Health};

use super::MetricsPage;

impl MetricsPage<'_> {
    pub(super) fn chain(&mut self, chain: &ChainStatus) -> fmt::Result {
        let known = [
            ("chain_block", "Last block that is in", chain.block()),
            ("chain_head", "Newest block told of", chain.head),
        ];
        for (name, help, height) in known {
            if let Some(height) = height {
                self.gauge(name, help, usize::try_from(height).unwrap_or(usize::MAX))?;
            }
        }
        let state = chain.health.name();
        let states = Health::NAMES.map(|name| (name, usize::from(name == state)));
        let help = "1 for the state of following the chain";
        self.gauges("chain_state", help, "state", states.into_iter())?;
        if let Some(compared) = chain.compared {
            let since = compared.duration_since(UNIX_EPOCH).unwrap_or_default();
            let help = "When the contract's root was last equal to ours, Unix time";
            let unit = Some(&Unit::Seconds);
            let mut metric =
                self.metric("chain_compared_timestamp", help, unit, MetricType::Gauge)?;
            metric.encode_gauge(&since.as_secs_f64())?;
        }
        let help = "Reorganisations that were followed";
        self.counter("chain_reorganisations", help, chain.reorganisations)?;
        let costs = &chain.costs;
        self.bytes("chain_sent", "Requests to endpoints", costs.sent_bytes)?;
        self.bytes("chain_received", "Their answers", costs.received_bytes)?;
        let help = "Requests to endpoints";
        self.endpoints("chain_requests", help, chain, |endpoint| endpoint.requests)?;
        let help = "Requests without a useful answer";
        self.endpoints("chain_failures", help, chain, |endpoint| endpoint.failures)
    }

    /// Writes counts per endpoint, labelled by position in the configuration, from 1: names may be long or
    /// equal.
    fn endpoints(
        &mut self,
        name: &str,
        help: &str,
        chain: &ChainStatus,
        total: impl Fn(&EndpointCosts) -> u64,
    ) -> fmt::Result {
        let mut metric = self.metric(name, help, None, MetricType::Counter)?;
        for (place, endpoint) in (1_u64..).zip(&chain.endpoints) {
            let labels = [("endpoint", place)];
            let mut one = metric.encode_family(&labels)?;
            one.encode_counter::<NoLabelSet, _, u64>(&total(endpoint), None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests/chain.rs"]
mod tests;
