use super::*;
use undertone_network::command::ProtocolHealth;

fn part(protocol: &'static str, status: HealthStatus, desc: Option<&str>) -> ProtocolHealth {
    ProtocolHealth {
        protocol,
        status,
        desc: desc.map(str::to_owned),
    }
}

fn healthy() -> HealthReport {
    HealthReport {
        node: HealthStatus::Ready,
        connection: ConnectionStatus::PartiallyConnected,
        protocols: vec![
            part("Relay", HealthStatus::Ready, None),
            part("Rln Relay", HealthStatus::Ready, None),
            part("Store", HealthStatus::NotMounted, None),
            // Nobody asked for these.
            part("Filter Client", HealthStatus::NotReady, Some("no peer")),
            part("Store Client", HealthStatus::NotReady, Some("no peer")),
        ],
        shards: Vec::new(),
    }
}

#[test]
fn a_node_with_peers_is_ready_whatever_clients_lack() {
    assert!(lacks(&healthy()).is_empty());
}

#[test]
fn each_part_that_the_node_needs_is_a_reason() {
    for protocol in ["Relay", "Rln Relay", "Store", "Send Queue"] {
        for status in [HealthStatus::NotReady, HealthStatus::Synchronizing] {
            let mut health = healthy();
            health.protocols.retain(|part| part.protocol != protocol);
            health.protocols.push(part(protocol, status, Some("why")));
            assert_eq!(lacks(&health), [format!("{protocol}: why")]);
        }
    }
}

#[test]
fn all_reasons_are_given() {
    let mut health = healthy();
    health.node = HealthStatus::NotReady;
    health.connection = ConnectionStatus::Disconnected;
    health.protocols[0] = part("Relay", HealthStatus::NotReady, Some("No connected peers"));
    health.protocols[2] = part("Store", HealthStatus::NotReady, None);
    let expected = ["Relay: No connected peers", "Store: no reason is known"];
    assert_eq!(lacks(&health), expected);
}

#[test]
fn a_light_node_needs_a_peer_too() {
    let mut health = healthy();
    health.protocols[0].status = HealthStatus::NotMounted;
    assert!(lacks(&health).is_empty());
    health.connection = ConnectionStatus::Disconnected;
    assert_eq!(lacks(&health), ["no connected peers"]);
}

#[test]
fn a_node_that_is_not_ready_is_not_ready_without_a_reason_either() {
    for node in [
        HealthStatus::Initializing,
        HealthStatus::Synchronizing,
        HealthStatus::ShuttingDown,
        HealthStatus::EventLoopLagging,
    ] {
        let health = HealthReport { node, ..healthy() };
        assert_eq!(lacks(&health), ["the node is not ready"]);
    }
}
