use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};
use undertone_conformance::{PeerCommand, PeerError, PeerProcess};

use crate::idle::Failure;
use crate::idle::crowd::{IdleCrowd, TOPIC};
use crate::idle::report::{Look, Usage};

/// Time limit for the mesh to become stable.
const DEADLINE: Duration = Duration::from_secs(60);
/// Interval at which the mesh is checked until it is stable.
const POLL: Duration = Duration::from_secs(1);
/// Number of samples after the first, few enough that their cost is negligible.
const LOOKS: u32 = 4;

/// Peer that is measured.
pub(crate) struct Subject {
    label: String,
    peer: PeerProcess,
    connections: usize,
}

impl Subject {
    /// Starts the peer and makes it dial the crowd, because some libraries accept few connections per second.
    pub(crate) async fn start(command: &PeerCommand, crowd: &IdleCrowd) -> Result<Self, PeerError> {
        let mut peer = PeerProcess::spawn(command).await?;
        peer.subscribe(TOPIC).await?;
        let addrs = crowd.addrs();
        let connections = addrs.len();
        for addr in addrs {
            peer.connect(&addr).await?;
        }
        Ok(Self {
            label: command.label().to_owned(),
            peer,
            connections,
        })
    }

    /// Waits until the peer knows the whole crowd and its mesh has stayed the same; returns the mesh's size.
    pub(crate) async fn settle(&mut self, settle_s: u32) -> Result<usize, Failure> {
        match timeout(DEADLINE, self.settled(settle_s)).await {
            Ok(in_mesh) => Ok(in_mesh?),
            Err(_) => Err(Failure::Unsettled {
                label: self.label.clone(),
                known: self.peer.peers(TOPIC).await?.len(),
                connections: self.connections,
                settle_s,
                deadline_s: DEADLINE.as_secs(),
            }),
        }
    }

    async fn settled(&mut self, settle_s: u32) -> Result<usize, PeerError> {
        let mut last = Vec::new();
        let mut since = Instant::now();
        loop {
            let known = self.peer.peers(TOPIC).await?.len();
            let mut mesh = self.peer.mesh(TOPIC).await?;
            mesh.sort_unstable();
            if known < self.connections || mesh.is_empty() || mesh != last {
                last = mesh;
                since = Instant::now();
            } else if since.elapsed() >= Duration::from_secs(settle_s.into()) {
                return Ok(mesh.len());
            }
            sleep(POLL).await;
        }
    }

    /// Measures the peer for `time`, with only a few requests to it.
    pub(crate) async fn watch(&mut self, time: Duration) -> Result<Usage, PeerError> {
        let start = Instant::now();
        let mut looks = vec![self.look(start).await?];
        for look in 1..=LOOKS {
            sleep_until(start + time * look / LOOKS).await;
            looks.push(self.look(start).await?);
        }
        Ok(Usage::of(&looks))
    }

    pub(crate) async fn quit(self) -> Result<(), PeerError> {
        self.peer.quit().await
    }

    async fn look(&mut self, start: Instant) -> Result<Look, PeerError> {
        let stat = self.peer.stat().await?;
        Ok(Look {
            at: start.elapsed(),
            stat,
        })
    }
}
