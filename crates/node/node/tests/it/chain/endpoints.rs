//! What a node tells of endpoints that are gone.

use std::time::Duration;

use undertone_node::assemble::Assembled;
use undertone_node::command::HealthStatus;

use crate::chain::rig::{HANG, Registry, Role, identity, node};

/// Health of the rate limit, and why it is not better.
async fn rln_health(node: &Assembled) -> (HealthStatus, Option<String>) {
    let report = node.node.handle.health().await.unwrap();
    let mut protocols = report.protocols.into_iter();
    let rln = protocols.find(|part| part.protocol == "Rln Relay").unwrap();
    (rln.status, rln.desc)
}

pub(crate) async fn until_health(node: &Assembled, wanted: HealthStatus) -> Option<String> {
    let wait = async {
        loop {
            let (status, desc) = rln_health(node).await;
            if status == wanted {
                return desc;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, wait).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
async fn an_endpoint_that_is_gone_is_told() {
    let registry = Registry::start().await;
    registry.register(identity(0).commitment()).await;
    let folder = tempfile::tempdir().unwrap();
    let node = node(&registry, 0, Role::Publisher, &folder, &[]).await;
    assert_eq!(until_health(&node, HealthStatus::Ready).await, None);
    let Registry { chain, .. } = registry;
    let endpoint = chain.endpoint().replace("http://", "");
    drop(chain);
    let reason = until_health(&node, HealthStatus::Synchronizing)
        .await
        .unwrap();
    assert!(reason.contains(&endpoint), "{reason}");
    // The roots that were accepted still are.
    let rln = node.node.handle.rln().await.unwrap().unwrap();
    assert_eq!(rln.membership.roots, 1);
    let chain = rln.chain.unwrap();
    assert_eq!(chain.health.name(), "degraded");
    assert_eq!(chain.block(), chain.head);
    assert!(chain.compared.is_some());
    let [endpoint] = &chain.endpoints[..] else {
        panic!("{chain:?}");
    };
    assert_eq!(endpoint.requests, chain.costs.requests);
    assert!(0 < endpoint.failures && endpoint.failures < endpoint.requests);
    node.stop().await;
}
