//! One run of real nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use undertone_conformance::PeerProcess;
use undertone_conformance::protocol::Content;
use undertone_sim::outcome::{FirstCopy, trace_back};
use undertone_sim::{Plan, Scenario};
use undertone_testbed::{Testbed, TestbedConfig};

use crate::profiles::figures::{ProfileFigures, RunTotals, mean};
use crate::profiles::peer_kind::PeerKind;
use crate::profiles::{ProfilesError, nodes};

/// Run of a scenario with nodes of an implementation.
pub(crate) struct RealRun<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) implementation: PeerKind,
}

impl RealRun<'_> {
    /// Starts the nodes, publishes the messages of the plan at their times, and counts what they receive and
    /// send.
    pub(crate) async fn run(
        &self,
        network: &TestbedConfig,
        say: &dyn Fn(&str),
    ) -> Result<ProfileFigures, ProfilesError> {
        let topic = self.plan.topic(0);
        let testbed = Testbed::start(network)?;
        say(&format!("starting {} nodes", self.scenario.nodes));
        let start = nodes::start(self.scenario, self.implementation, &testbed, &topic);
        let mut peers = start.await?;
        say("connecting them");
        let zero = Instant::now();
        nodes::connect(&mut peers, &testbed, self.plan, zero).await?;
        say(&format!(
            "publishing; {:.1} s of the plan have passed",
            zero.elapsed().as_secs_f64()
        ));
        self.publish(&mut peers, &topic, zero).await?;
        let figures = self.gather(&mut peers, &topic).await?;
        let packets = testbed.report();
        say(&format!(
            "{} packets delivered, {:.0} µs late in the mean, {:.1} ms at most",
            packets.delivered,
            packets.late_mean_ns() as f64 / 1e3,
            packets.late_max_ns as f64 / 1e6,
        ));
        for peer in peers {
            peer.quit().await?;
        }
        Ok(figures)
    }

    /// Publishes each message at its time after `zero`, the plan's time 0.
    async fn publish(
        &self,
        peers: &mut [PeerProcess],
        topic: &str,
        zero: Instant,
    ) -> Result<(), ProfilesError> {
        for message in self.plan.messages() {
            sleep_until(zero + Duration::from_nanos(message.published_ns)).await;
            let content = Content::Stamped {
                seq: u64::from(message.index),
                size: message.payload_bytes as usize,
            };
            peers[message.publisher as usize]
                .publish(topic, content)
                .await?;
        }
        tokio::time::sleep(Duration::from_nanos(self.scenario.drain_ns)).await;
        Ok(())
    }

    /// Asks every node what it received and sent.
    async fn gather(
        &self,
        peers: &mut [PeerProcess],
        topic: &str,
    ) -> Result<ProfileFigures, ProfilesError> {
        let ids = peers.iter().zip(0u32..);
        let ids: BTreeMap<_, _> = ids
            .map(|(peer, node)| (peer.peer_id().to_owned(), node))
            .collect();
        let messages = self.plan.messages();
        let (mut firsts, mut meshes) = (Vec::new(), Vec::new());
        let mut totals = RunTotals {
            expected: self.plan.expected(),
            ..RunTotals::default()
        };
        for (peer, receiver) in peers.iter_mut().zip(0u32..) {
            let mesh = u32::try_from(peer.mesh(topic).await?.len()).unwrap_or(u32::MAX);
            totals.mesh_max = totals.mesh_max.max(mesh);
            meshes.push(f64::from(mesh));
            let counts = peer.control().await?;
            totals.copies += counts.received.messages;
            if let Some(links) = counts.received.links {
                totals.links = Some(totals.links.unwrap_or(0) + links);
            }
            totals.idontwant += counts.sent.idontwant;
            totals.ihave += counts.sent.ihave;
            totals.iwant += counts.sent.iwant;
            totals.graft += counts.sent.graft;
            totals.prune += counts.sent.prune;
            while let Some(arrival) = peer.try_message() {
                let stamp = arrival.seq.zip(arrival.latency_ns);
                let stamp = stamp
                    .and_then(|(seq, latency_ns)| Some((u32::try_from(seq).ok()?, latency_ns)));
                let from = ids.get(&arrival.from);
                if let (Some((message, latency_ns)), Some(from)) = (stamp, from)
                    && let Some(published) = messages.get(message as usize)
                {
                    firsts.push(FirstCopy {
                        message,
                        receiver,
                        from: *from,
                        received_ns: published.published_ns + latency_ns,
                    });
                }
            }
        }
        totals.mesh_mean = mean(meshes.into_iter());
        let nodes = self.scenario.nodes;
        let deliveries = trace_back(messages, nodes, firsts);
        Ok(ProfileFigures::new(nodes, messages, &deliveries, totals))
    }
}
