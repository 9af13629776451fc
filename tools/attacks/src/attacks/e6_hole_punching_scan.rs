//! Attack e6: a stranger behind a relay asks the node to punch holes at addresses of the node's own host, to learn
//! which ports are open there.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use libp2p::Multiaddr;
use tokio::net::{TcpListener, UdpSocket};
use tokio::time::sleep;

use super::{Attack, Price, nothing};
use crate::raw::{HolePuncher, RawRelay};
use crate::{Counted, HostileError, StageOptions, Tasks, TestNetwork};

/// Address of the stranger's relay.
const RELAY_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 31, 1);
/// Number of TCP sockets named by IP address.
const BY_NUMBER: u8 = 8;
/// Number of UDP sockets named.
const DATAGRAMS: u8 = 2;
/// Time for the node to dial: several attempts of a few seconds each.
const DIALLED: Duration = Duration::from_secs(15);

/// Attack e6: addresses of the node's own host as targets of hole punching.
pub const ATTACK: Attack = Attack {
    name: "e6-hole-punching-scan",
    about: "a stranger behind a relay names 12 addresses of the node's own host at which to punch holes",
    price: Price::Nothing,
    options: || StageOptions {
        victims_flags: &[
            "--relay-client=true",
            "--quic-support=true",
            "--quic-port=61006",
        ],
        ..StageOptions::default()
    },
    start: |stage| start(stage).boxed(),
    then: nothing,
};

/// Listeners on the node's own host, and counts of what arrives there.
#[derive(Default)]
struct Listeners {
    addresses: Vec<Multiaddr>,
    /// Number of connections and packets at each address.
    arrived: Vec<Arc<AtomicUsize>>,
    tasks: Tasks,
}

async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let listening = Listeners::open().await;
    let listeners = listening.map_err(HostileError::io("cannot listen on the node's own host"))?;
    let relay = RawRelay::listen(RELAY_IP).await?;
    // The operator configured the relay; the stranger has a circuit through it like anybody else.
    stage.victim.connect(relay.addr()).await;
    let addresses = listeners.addresses.clone();
    let mut stranger = HolePuncher::start(relay.addr(), stage.victim.peer_id(), addresses)?;
    stranger.punched().await?;
    sleep(DIALLED).await;
    let arrived = listeners.arrived.iter();
    let good = arrived.filter(|count| count.load(Ordering::Acquire) == 0);
    stage.counted.push(Counted {
        what: "named addresses of the node's own host that were not dialled",
        good: good.count(),
        of: listeners.arrived.len(),
    });
    let mut tasks = Tasks::default();
    tasks.spawn(async move {
        let _held = (relay, stranger, listeners);
        std::future::pending::<()>().await;
    });
    Ok(tasks)
}

impl Listeners {
    /// Opens a listener for each way of writing an address of this host.
    async fn open() -> io::Result<Self> {
        let mut all = Self::default();
        for last in 1..=BY_NUMBER {
            let ip = Ipv4Addr::new(127, 0, 32, last);
            let port = all.stream(ip).await?;
            all.name(format!("/ip4/{ip}/tcp/{port}"));
        }
        let port = all.stream(Ipv4Addr::LOCALHOST).await?;
        all.name(format!("/dns4/localhost/tcp/{port}"));
        let port = all.stream(Ipv4Addr::LOCALHOST).await?;
        all.name(format!("/dns/localhost/tcp/{port}"));
        for last in 1..=DATAGRAMS {
            let ip = Ipv4Addr::new(127, 0, 33, last);
            let port = all.datagrams(ip).await?;
            all.name(format!("/ip4/{ip}/udp/{port}/quic-v1"));
        }
        Ok(all)
    }

    /// Counts connections to a free port of an address; returns the port.
    async fn stream(&mut self, ip: Ipv4Addr) -> io::Result<u16> {
        let listener = TcpListener::bind((ip, 0)).await?;
        let port = listener.local_addr()?.port();
        let count = self.count();
        self.tasks.spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::AcqRel);
            }
        });
        Ok(port)
    }

    /// Counts packets to a free port of an address; returns the port.
    async fn datagrams(&mut self, ip: Ipv4Addr) -> io::Result<u16> {
        let socket = UdpSocket::bind((ip, 0)).await?;
        let port = socket.local_addr()?.port();
        let count = self.count();
        self.tasks.spawn(async move {
            while socket.recv(&mut [0; 64]).await.is_ok() {
                count.fetch_add(1, Ordering::AcqRel);
            }
        });
        Ok(port)
    }

    fn count(&mut self) -> Arc<AtomicUsize> {
        let count = Arc::<AtomicUsize>::default();
        self.arrived.push(Arc::clone(&count));
        count
    }

    fn name(&mut self, address: String) {
        let address = address.parse();
        self.addresses
            .push(address.expect("an address in one of these forms is valid"));
    }
}
