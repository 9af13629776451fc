use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use undertone_membership::evm::RpcCosts;

use super::*;

#[derive(Debug)]
struct Only(ChainStatus);

impl Collector for Only {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        MetricsPage(encoder).chain(&self.0)
    }
}

/// Lines with samples, without the comment lines.
fn page(status: ChainStatus) -> Vec<String> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Only(status)));
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.map(str::to_owned).collect()
}

fn status(health: Health) -> ChainStatus {
    ChainStatus {
        health,
        head: None,
        costs: RpcCosts::default(),
        endpoints: Vec::new(),
        reorganisations: 0,
        compared: None,
    }
}

#[test]
fn a_chain_has_heights_a_state_and_costs_by_endpoint() {
    let endpoint = |requests, failures| EndpointCosts {
        name: "http://the.same".to_owned(),
        requests,
        failures,
    };
    let known = ChainStatus {
        head: Some(72),
        costs: RpcCosts {
            requests: 9,
            failures: 4,
            sent_bytes: 100,
            received_bytes: 2_000,
        },
        endpoints: vec![endpoint(8, 4), endpoint(1, 0)],
        reorganisations: 3,
        compared: Some(UNIX_EPOCH + Duration::from_millis(1_500)),
        ..status(Health::Syncing {
            block: 70,
            head: 72,
        })
    };
    let expected = [
        "chain_block 70",
        "chain_head 72",
        "chain_state{state=\"starting\"} 0",
        "chain_state{state=\"syncing\"} 1",
        "chain_state{state=\"synced\"} 0",
        "chain_state{state=\"degraded\"} 0",
        "chain_compared_timestamp_seconds 1.5",
        "chain_reorganisations_total 3",
        "chain_sent_bytes_total 100",
        "chain_received_bytes_total 2000",
        "chain_requests_total{endpoint=\"1\"} 8",
        "chain_requests_total{endpoint=\"2\"} 1",
        "chain_failures_total{endpoint=\"1\"} 4",
        "chain_failures_total{endpoint=\"2\"} 0",
    ];
    assert_eq!(page(known), expected);
}

/// Unknown values are omitted rather than reported wrongly.
#[test]
fn nothing_is_made_up_before_the_first_answer() {
    let page = page(status(Health::Starting));
    for absent in ["chain_block", "chain_head", "chain_compared"] {
        assert!(
            !page.iter().any(|line| line.starts_with(absent)),
            "{page:?}"
        );
    }
    assert!(page.contains(&"chain_state{state=\"starting\"} 1".to_owned()));
}
