//! Task that has the router open the node's ports, keeps them open, and releases them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::router::{Grant, Router, RouterError};
use super::{LocalPort, RouterSearch};

/// Time before a router that was not found or that refused is asked again.
const RETRY: Duration = Duration::from_secs(60);

/// Maximum time between two renewals, so that the mappings return after a restart of the router.
const RENEWAL_MAX: Duration = Duration::from_secs(10 * 60);

/// Time for the router to close the ports when the node stops.
const GIVING_BACK: Duration = Duration::from_secs(2);

/// Number of other external ports to try if another host has the wanted one.
const OTHER_PORTS: u16 = 3;

/// News about a port for the event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortNews {
    /// The port can be reached at a public address.
    Opened { port: LocalPort, at: SocketAddr },
    /// The address no longer leads to the port.
    Lost { port: LocalPort, at: SocketAddr },
}

/// Handle of the task.
#[derive(Debug)]
pub(crate) struct Mapper {
    news: mpsc::UnboundedReceiver<PortNews>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Mapper {
    /// Starts to have ports opened by the router.
    pub(crate) fn start(search: RouterSearch, ports: Vec<LocalPort>) -> Self {
        // Bounded by the number of ports: each is reported once per change of its address.
        let (sender, news) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let keeper = PortKeeper {
            search,
            ports,
            router: None,
            open: BTreeMap::new(),
            news: sender,
            is_warned: false,
        };
        let task = tokio::spawn(keeper.run(stopped));
        Self { news, stop, task }
    }

    /// Waits for the next news; forever without a task.
    pub(crate) async fn next(mapper: Option<&mut Self>) -> PortNews {
        if let Some(mapper) = mapper
            && let Some(news) = mapper.news.recv().await
        {
            return news;
        }
        std::future::pending().await
    }

    /// Checks that nothing was told yet.
    #[cfg(test)]
    pub(crate) async fn news_so_far_is_none(&mut self) {
        // The task tells what it has to tell before it waits for the next renewal.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(self.news.try_recv().ok(), None);
    }

    /// Releases the ports; takes a bounded time, whether the router answers or not.
    pub(crate) async fn stop(self) {
        // A task that has ended holds no port.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

struct PortKeeper {
    search: RouterSearch,
    ports: Vec<LocalPort>,
    router: Option<Router>,
    open: BTreeMap<LocalPort, Grant>,
    news: mpsc::UnboundedSender<PortNews>,
    /// Whether the operator has been warned that no port is open, since one last was.
    is_warned: bool,
}

impl PortKeeper {
    async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        loop {
            let round = async {
                let wait = self.round().await;
                tokio::time::sleep(wait).await;
            };
            tokio::select! {
                () = round => {}
                _ = &mut stopped => break,
            }
        }
        // A router that does not answer must not delay the stop; it closes the ports itself when the lease expires.
        let _ = tokio::time::timeout(GIVING_BACK, self.give_back()).await;
    }

    /// Has all ports opened or renewed; returns the time until the next round.
    async fn round(&mut self) -> Duration {
        match self.renew_all().await {
            Ok(wait) => wait,
            Err(error) => {
                if std::mem::replace(&mut self.is_warned, true) {
                    tracing::debug!(%error, "still no port is open at the router");
                } else {
                    tracing::warn!(
                        %error,
                        "no port was opened at the router; forward the ports there and set nat = extip:IP, or nat = none"
                    );
                }
                // The router may have been replaced by another one.
                self.router = None;
                for (port, grant) in std::mem::take(&mut self.open) {
                    self.tell(PortNews::Lost { port, at: grant.at });
                }
                RETRY
            }
        }
    }

    async fn renew_all(&mut self) -> Result<Duration, RouterError> {
        let router = match &self.router {
            Some(router) => router.clone(),
            None => Router::find(&self.search).await?,
        };
        // Stored before the round, so that a stop in the middle of it releases the ports.
        self.router = Some(router.clone());
        let mut wait = RENEWAL_MAX;
        for port in self.ports.clone() {
            let grant = self.renew(&router, port).await?;
            if let Some(lasts) = grant.lasts {
                wait = wait.min(lasts / 2).max(self.search.renewal_min);
            }
        }
        Ok(wait)
    }

    async fn renew(&mut self, router: &Router, port: LocalPort) -> Result<Grant, RouterError> {
        let before = self.open.get(&port).map(|grant| grant.at);
        let wanted = before.map_or(port.number, |at| at.port());
        let lease = self.search.lease;
        let mut opened = router.open(port, wanted, lease).await;
        for other in 1..=OTHER_PORTS {
            if !opened.as_ref().is_err_and(RouterError::is_conflict) {
                break;
            }
            // Another host of this network has the port. Ports below 1024 are left to the router's own services.
            let other = port.number.checked_add(other).unwrap_or(1023 + other);
            opened = router.open(port, other, lease).await;
        }
        let grant = opened?;
        self.open.insert(port, grant);
        if before != Some(grant.at) {
            if let Some(at) = before {
                self.tell(PortNews::Lost { port, at });
            }
            self.announce(router, port, grant.at);
        }
        Ok(grant)
    }

    fn announce(&mut self, router: &Router, port: LocalPort, at: SocketAddr) {
        let protocol = router.protocol();
        if leads_nowhere(at.ip()) {
            tracing::warn!(
                %at, protocol,
                "the router opened a port, but has no public address itself: it stands behind another router, where the port would have to be forwarded too"
            );
            return;
        }
        self.is_warned = false;
        tracing::info!(port = port.number, %at, protocol, "the router has opened a port");
        self.tell(PortNews::Opened { port, at });
    }

    fn tell(&self, news: PortNews) {
        // The event loop may have ended.
        let _ = self.news.send(news);
    }

    async fn give_back(&mut self) {
        let Some(router) = self.router.take() else {
            return;
        };
        for (port, grant) in std::mem::take(&mut self.open) {
            match router.close(port, grant.at.port()).await {
                Ok(()) => tracing::debug!(port = port.number, "the router has closed a port"),
                Err(error) => tracing::debug!(%error, port = port.number, "a port stays open"),
            }
        }
    }
}

/// Whether an address that a router calls public is not: private, shared by a provider's customers (CGNAT), or missing.
fn leads_nowhere(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_unspecified()
                || is_shared
        }
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified(),
    }
}
