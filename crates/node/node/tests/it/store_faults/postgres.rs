//! A PostgreSQL server that stops, is killed, or stands still under a running store.

use undertone_node::assemble::assemble;

use crate::store_faults::neighbour::Neighbour;
use crate::store_faults::told;
use crate::support::Place;
use crate::support::postgres_server::{PASSWORD, PostgresServer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_whose_database_is_gone_says_so_and_keeps_all_once_it_is_back() {
    let Some(mut server) = PostgresServer::start(true) else {
        return;
    };
    let place = Place::new();
    let url = server.create_database("store");
    let flags = [
        ("rln", "false"),
        ("shards", "0"),
        ("store", "true"),
        ("store-message-db-url", url.as_str()),
    ];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let mut neighbour = Neighbour::of(&node).await;
    neighbour.publish_until_kept(&node, 100).await;

    type Fault = fn(&mut PostgresServer);
    let faults: [(Fault, Fault); 3] = [
        (PostgresServer::stop, PostgresServer::start_again),
        (PostgresServer::crash, PostgresServer::start_again),
        (PostgresServer::freeze, PostgresServer::thaw),
    ];
    for (begin, end) in faults {
        begin(&mut server);
        neighbour.publish(20, 100).await;
        let reason = told(&node, "Store", "undertone_store_writing", false).await;
        assert!(reason.contains("postgres://waku@127.0.0.1:"), "{reason}");
        assert!(!reason.contains(PASSWORD), "{reason}");
        end(&mut server);
        told(&node, "Store", "undertone_store_writing", true).await;
        neighbour.assert_all_kept(&node).await;
    }
    neighbour.stop().await;
    assert!(node.stop().await.is_complete());
}
