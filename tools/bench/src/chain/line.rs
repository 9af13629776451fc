use std::time::Instant;

use undertone_conformance::process::PendingReply;
use undertone_conformance::protocol::{Command, Content, Stat};
use undertone_conformance::{PeerCommand, PeerError, PeerProcess};

use crate::chain::Failure;
use crate::chain::options::ChainOptions;
use crate::chain::processors::Processors;

/// Line of peers of one variant, each connected to the one before it.
pub(crate) struct Line {
    label: String,
    topic: String,
    peers: Vec<PeerProcess>,
    next_seq: u64,
}

/// Resources used so far by the peers of a line.
pub(crate) struct PeerSnapshot {
    at: Instant,
    stats: Vec<Stat>,
}

impl Line {
    /// Starts the peers and waits until all neighbours share a mesh.
    pub(crate) async fn start(
        label: String,
        command: &PeerCommand,
        options: &ChainOptions,
        processors: Option<&Processors>,
    ) -> Result<Self, Failure> {
        let topic = &options.topic;
        let mut peers: Vec<PeerProcess> = Vec::new();
        for index in 0..usize::from(options.nodes) {
            let command = command.clone().labelled(format!("{label} {index}"));
            // A process inherits the processor affinity of the one that starts it.
            if let Some(processors) = processors {
                processors.go_to(index)?;
            }
            let mut peer = PeerProcess::spawn(&command).await?;
            if let Some(processors) = processors {
                processors.go_anywhere()?;
            }
            peer.subscribe(topic).await?;
            if let Some(before) = peers.last() {
                peer.connect(before.addr()).await?;
            }
            peers.push(peer);
        }
        let last = peers.len() - 1;
        for (index, peer) in peers.iter_mut().enumerate() {
            peer.wait_mesh(topic, usize::from(index > 0) + usize::from(index < last))
                .await?;
        }
        Ok(Self {
            label,
            topic: topic.clone(),
            peers,
            next_seq: 1,
        })
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Makes the first peer publish, without waiting for it; returns the sequence number and the pending
    /// reply.
    pub(crate) async fn publish(&mut self, size: usize) -> Result<(u64, PendingReply), PeerError> {
        let seq = self.next_seq;
        self.next_seq += 1;
        let topic = self.topic.clone();
        let command = Command::Publish {
            topic,
            content: Content::Stamped { seq, size },
        };
        Ok((seq, self.peers[0].send("publish", command).await?))
    }

    /// Waits for the reply to a publish command; returns whether the first peer accepted the message.
    pub(crate) async fn published(&mut self, pending: PendingReply) -> Result<bool, PeerError> {
        match self.peers[0].reply::<serde_json::Value>(pending).await {
            Ok(_) => Ok(true),
            Err(PeerError::Refused { reason, .. }) => {
                eprintln!("{}: publish refused: {reason}", self.label);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the receiving peers: all but the first.
    pub(crate) fn receivers(&mut self) -> &mut [PeerProcess] {
        &mut self.peers[1..]
    }

    pub(crate) async fn snapshot(&mut self) -> Result<PeerSnapshot, PeerError> {
        let mut stats = Vec::new();
        for peer in &mut self.peers {
            stats.push(peer.stat().await?);
        }
        Ok(PeerSnapshot {
            at: Instant::now(),
            stats,
        })
    }

    pub(crate) async fn quit(self) -> Result<(), PeerError> {
        for peer in self.peers {
            peer.quit().await?;
        }
        Ok(())
    }
}

impl PeerSnapshot {
    /// Returns the time between two snapshots, in microseconds.
    pub(crate) fn elapsed_us_since(&self, before: &Self) -> f64 {
        (self.at - before.at).as_secs_f64() * 1e6
    }

    /// Returns the processor time of each peer between two snapshots, in microseconds.
    pub(crate) fn cpu_us_since(&self, before: &Self) -> Vec<f64> {
        let pairs = self.stats.iter().zip(&before.stats);
        pairs
            .map(|(now, then)| now.cpu_us.saturating_sub(then.cpu_us) as f64)
            .collect()
    }

    /// Returns the processor time of each peer between two snapshots, as a share of the elapsed time.
    pub(crate) fn cpu_shares_since(&self, before: &Self) -> Vec<f64> {
        let elapsed_us = self.elapsed_us_since(before);
        self.cpu_us_since(before)
            .into_iter()
            .map(|cpu_us| cpu_us / elapsed_us)
            .collect()
    }

    /// Returns the resident memory of each peer in KiB.
    pub(crate) fn rss_kib(&self) -> impl Iterator<Item = u64> {
        self.stats.iter().map(|stat| stat.rss_kib)
    }
}
