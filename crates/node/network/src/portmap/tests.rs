//! Ports opened at a router made in the test, by either protocol.

mod fake;

use std::time::Duration;

use fake::FakeRouter;

use super::http::HttpError;
use super::upnp::UpnpError;
use super::{LocalPort, Mapper, MappingMethod, PortKind, PortNews, RouterSearch};

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(60);

const TCP: LocalPort = LocalPort {
    kind: PortKind::Tcp,
    number: 60_000,
};
const UDP: LocalPort = LocalPort {
    kind: PortKind::Udp,
    number: 60_001,
};

fn search(method: MappingMethod, router: &FakeRouter) -> RouterSearch {
    RouterSearch {
        ssdp: router.ssdp,
        natpmp: Some(router.natpmp),
        lease: Duration::from_secs(600),
        ..RouterSearch::new(method)
    }
}

async fn next(mapper: &mut Mapper) -> PortNews {
    let next = tokio::time::timeout(HANG, Mapper::next(Some(mapper)));
    next.await.expect("the router answers at once")
}

fn opened(port: LocalPort, at: &str) -> PortNews {
    let at = at.parse().expect("a constant");
    PortNews::Opened { port, at }
}

#[tokio::test]
async fn upnp_opens_the_ports_and_gives_them_back() {
    let router = FakeRouter::start().await;
    let mut mapper = Mapper::start(search(MappingMethod::Upnp, &router), vec![TCP, UDP]);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.7:60000"));
    assert_eq!(next(&mut mapper).await, opened(UDP, "203.0.113.7:60001"));
    assert_eq!(router.open(), ["TCP 60000 to 60000", "UDP 60001 to 60001"]);
    mapper.stop().await;
    assert_eq!(router.open(), [""; 0]);
}

#[tokio::test]
async fn natpmp_opens_the_ports_and_gives_them_back() {
    let router = FakeRouter::start().await;
    let mut mapper = Mapper::start(search(MappingMethod::Pmp, &router), vec![TCP, UDP]);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.7:60000"));
    assert_eq!(next(&mut mapper).await, opened(UDP, "203.0.113.7:60001"));
    assert_eq!(router.open(), ["TCP 60000 to 60000", "UDP 60001 to 60001"]);
    mapper.stop().await;
    assert_eq!(router.open(), [""; 0]);
}

#[tokio::test]
async fn a_router_without_upnp_is_asked_by_natpmp() {
    let router = FakeRouter::start().await;
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let search = RouterSearch {
        ssdp: silent.local_addr().unwrap(),
        ..search(MappingMethod::Any, &router)
    };
    let mut mapper = Mapper::start(search, vec![TCP]);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.7:60000"));
    mapper.stop().await;
}

#[tokio::test]
async fn a_port_that_another_host_has_is_opened_under_another_number() {
    let router = FakeRouter::start().await;
    router.occupy("TCP", 60_000);
    let mut mapper = Mapper::start(search(MappingMethod::Upnp, &router), vec![TCP]);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.7:60001"));
    mapper.stop().await;
    assert_eq!(router.open(), ["TCP 60000 to 1"], "that of the other host");
}

#[tokio::test]
async fn a_router_that_knows_no_end_is_asked_for_none() {
    let router = FakeRouter::start().await;
    router.permanent_only();
    let mut mapper = Mapper::start(search(MappingMethod::Upnp, &router), vec![TCP]);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.7:60000"));
    mapper.stop().await;
    assert_eq!(router.open(), [""; 0]);
}

#[tokio::test]
async fn ports_are_renewed_and_a_new_public_address_is_told() {
    let router = FakeRouter::start().await;
    let search = RouterSearch {
        lease: Duration::from_secs(1),
        renewal_min: Duration::from_millis(100),
        ..search(MappingMethod::Pmp, &router)
    };
    let mut mapper = Mapper::start(search, vec![TCP]);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.7:60000"));
    router.move_to([203, 0, 113, 8]);
    let at = "203.0.113.7:60000".parse().unwrap();
    let lost = PortNews::Lost { port: TCP, at };
    assert_eq!(next(&mut mapper).await, lost);
    assert_eq!(next(&mut mapper).await, opened(TCP, "203.0.113.8:60000"));
    mapper.stop().await;
}

#[tokio::test]
async fn a_router_behind_another_one_has_nothing_to_announce() {
    let router = FakeRouter::start().await;
    router.move_to([192, 168, 1, 4]);
    let mut mapper = Mapper::start(search(MappingMethod::Upnp, &router), vec![TCP]);
    while router.open().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    mapper.news_so_far_is_none().await;
    mapper.stop().await;
}

#[tokio::test]
async fn an_endless_answer_ends_the_search() {
    let router = FakeRouter::start().await;
    router.answer_without_end();
    let found = super::upnp::search(router.ssdp).await;
    let is_cut = matches!(found, Err(UpnpError::Http(HttpError::Body(_))));
    assert!(is_cut, "{found:?}");
}
