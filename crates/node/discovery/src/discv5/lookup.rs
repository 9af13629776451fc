//! Look-ups in the discv5 network, and changes of the node's own record.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::Bytes;
use discv5::{Discv5, Enr, Event};
use enr::{CombinedKey, NodeId};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use undertone_peers::{Capabilities, PeerFacts, PeerOffer, PeerSource};

use super::RecordValues;
use super::host_addresses::HostAddresses;
use super::target::Targets;
use crate::record::WakuRecord;

/// Keys of a record that change while the node runs. Those that [`super::Discv5Service::set_content`] leaves out are
/// removed.
const NODE_KEYS: [&str; 6] = ["rs", "rsv", "waku2", "multiaddrs", "tcp", "tcp6"];

/// Number of nodes that one look-up should find.
const LOOKUP_NODES: usize = 16;

/// Minimum time between two look-ups; doubles while they find no new nodes.
const LOOKUP_PAUSE_MIN: Duration = Duration::from_secs(1);

/// Maximum time between two look-ups while peers are wanted.
const LOOKUP_PAUSE_MAX: Duration = Duration::from_secs(30);

/// Time between look-ups while no peers are wanted; these keep the table of nodes fresh.
const LOOKUP_IDLE: Duration = Duration::from_secs(300);

/// Whether a record is newer than the known one of its node. The check is needed because the library replaces the known
/// record by any other.
pub(super) fn is_news(known: Option<&Enr>, found: &WakuRecord) -> bool {
    known.is_none_or(|known| known.seq() < found.sequence())
}

/// Whether a node is useful: of the same cluster, and on one of the shards or a store that relays none. To a node
/// without shards, any node of the cluster is useful.
pub(super) fn fits(facts: &PeerFacts, cluster: u16, shards: &[u16]) -> bool {
    let is_same = facts.cluster == Some(cluster);
    let is_store = facts.offers(Capabilities::STORE);
    let serves = |list: &Vec<u16>| match list.is_empty() {
        true => is_store,
        false => list.iter().any(|shard| shards.contains(shard)),
    };
    is_same && (shards.is_empty() || facts.shards.as_ref().is_some_and(serves))
}

/// Task that looks up nodes when they are wanted.
pub(super) struct LookupTask {
    discv5: Discv5,
    /// Key of the node's record.
    signing: CombinedKey,
    /// Bootstrap nodes, used again when no other node is connected.
    bootstrap: Vec<WakuRecord>,
    cluster: u16,
    shards: Arc<RwLock<Vec<u16>>>,
    offers: mpsc::Sender<PeerOffer>,
    record: watch::Sender<String>,
    known: watch::Sender<Vec<Bytes>>,
    addresses: HostAddresses,
    targets: Targets,
    /// Number of known nodes when the current look-up began.
    known_before: usize,
    pause: Duration,
}

/// Parts of a [`LookupTask`].
pub(super) struct LookupParts {
    pub(super) discv5: Discv5,
    /// Key of the node's record.
    pub(super) signing: CombinedKey,
    /// Bootstrap nodes.
    pub(super) bootstrap: Vec<WakuRecord>,
    /// Cluster of this node.
    pub(super) cluster: u16,
    /// Current shards of this node.
    pub(super) shards: Arc<RwLock<Vec<u16>>>,
    /// Channel for nodes that fit.
    pub(super) offers: mpsc::Sender<PeerOffer>,
    /// Record of this node, updated on each change.
    pub(super) record: watch::Sender<String>,
    /// Records of known nodes that fit.
    pub(super) known: watch::Sender<Vec<Bytes>>,
}

impl LookupTask {
    /// Creates the task and puts the bootstrap nodes into the table.
    pub(super) fn new(parts: LookupParts) -> Self {
        let LookupParts {
            discv5,
            signing,
            bootstrap,
            cluster,
            shards,
            offers,
            record,
            known,
        } = parts;
        let task = Self {
            discv5,
            signing,
            bootstrap,
            cluster,
            shards,
            offers,
            record,
            known,
            addresses: HostAddresses::default(),
            targets: Targets::default(),
            known_before: 0,
            pause: LOOKUP_PAUSE_MIN,
        };
        for node in &task.bootstrap {
            task.begin_with(node);
        }
        task
    }

    #[cfg(test)]
    pub(super) fn discv5(&self) -> &Discv5 {
        &self.discv5
    }

    /// Adds a bootstrap node, and offers it as a peer too.
    fn begin_with(&self, node: &WakuRecord) {
        if let Err(reason) = self.discv5.add_enr(node.enr().clone()) {
            let peer = node.peer();
            tracing::warn!(%peer, reason, "a bootstrap record cannot be used for discv5");
        }
        self.offer(node);
    }

    /// Adds a node found by another source, unless a newer record of it is known. The table rejects nodes that must not
    /// be contacted ([`super::is_public_waku`]).
    fn add(&self, node: &WakuRecord) {
        let known = self.discv5.find_enr(&node.enr().node_id());
        if is_news(known.as_ref(), node)
            && let Err(reason) = self.discv5.add_enr(node.enr().clone())
        {
            let peer = node.peer();
            tracing::debug!(%peer, reason, "a record is not taken into the table of discv5");
        }
    }

    /// While no node answers, puts the bootstrap nodes into the table again, as configured. The library drops a node
    /// whose newer record has no address, and contacts nodes only at their newest address; the node may have restarted
    /// since.
    pub(super) fn begin_again(&self) {
        if self.discv5.connected_peers() > 0 {
            return;
        }
        let known = self.discv5.table_entries_enr();
        for node in &self.bootstrap {
            if known.contains(node.enr()) {
                continue;
            }
            self.discv5.remove_node(&node.enr().node_id());
            if let Err(reason) = self.discv5.add_enr(node.enr().clone()) {
                let peer = node.peer();
                tracing::debug!(%peer, reason, "a bootstrap node is not asked again");
            }
        }
    }

    pub(super) async fn run(
        mut self,
        mut events: mpsc::Receiver<Event>,
        mut wished: mpsc::Receiver<()>,
        (mut contents, mut addressed): (
            watch::Receiver<RecordValues>,
            watch::Receiver<Vec<IpAddr>>,
        ),
        mut added: mpsc::Receiver<WakuRecord>,
    ) {
        let mut is_wished = true;
        let mut next = Instant::now();
        let mut idle = Instant::now() + LOOKUP_IDLE;
        loop {
            // A look-up in progress continues, but other events get a turn between its searches.
            let wake = match is_wished {
                _ if self.targets.is_under_way() => Instant::now(),
                true => next,
                false => idle,
            };
            tokio::select! {
                wish = wished.recv() => match wish {
                    Some(()) => is_wished = true,
                    None => break,
                },
                changed = contents.changed() => match changed {
                    Ok(()) => self.update_record(&contents.borrow_and_update().clone()),
                    Err(_) => break,
                },
                changed = addressed.changed() => match changed {
                    Ok(()) => {
                        self.addresses.set(addressed.borrow_and_update().clone());
                        if self.leave_lost_addresses() {
                            self.publish_record();
                            // Nodes contacted from the new address learn of it.
                            is_wished = true;
                            next = Instant::now();
                        }
                    }
                    Err(_) => break,
                },
                Some(node) = added.recv() => self.add(&node),
                Some(event) = events.recv() => self.on_event(event),
                () = sleep_until(wake) => {
                    if !self.targets.is_under_way() {
                        is_wished = false;
                    }
                    self.look_up().await;
                    next = Instant::now() + self.pause;
                    idle = Instant::now() + LOOKUP_IDLE;
                }
            }
        }
        self.discv5.shutdown();
    }

    /// Searches the next target of the current look-up, or the first one of a new look-up (chosen by [`Targets`]).
    /// Offers the nodes found, and those in the table, that fit.
    async fn look_up(&mut self) {
        let target = match self.targets.take() {
            Some(target) => target,
            None => {
                self.begin_again();
                self.known_before = self.known.borrow().len();
                self.targets.begin(&self.discv5.table_entries_id())
            }
        };
        let found = self.search(target).await;
        if self.discv5.connected_peers() == 0 {
            // Any further search would wait for the same nodes, which do not answer.
            self.targets.give_up();
        }
        let records = found.into_iter().chain(self.discv5.table_entries_enr());
        let records: Vec<_> = records
            .filter_map(|enr| WakuRecord::from_enr(enr).ok())
            .filter(|record| fits(&record.facts(), self.cluster, &self.shards()))
            .collect();
        for record in &records {
            self.offer(record);
        }
        let mut known: Vec<Bytes> = records.iter().map(WakuRecord::to_rlp).collect();
        known.sort();
        known.dedup();
        if !self.targets.is_under_way() {
            self.pause = match known.len() > self.known_before {
                true => LOOKUP_PAUSE_MIN,
                false => (self.pause * 2).min(LOOKUP_PAUSE_MAX),
            };
            tracing::debug!(nodes = known.len(), "a discv5 look-up ended");
        }
        self.known.send_replace(known);
        self.publish_record();
    }

    /// Searches for nodes around one point of the network.
    async fn search(&self, target: NodeId) -> Vec<Enr> {
        // The first node of a network has nobody to ask, and the library would log a warning each time.
        if self.discv5.table_entries_id().is_empty() {
            return Vec::new();
        }
        let shards = self.shards();
        let cluster = self.cluster;
        let is_wanted = move |enr: &Enr| {
            let record = WakuRecord::from_enr(enr.clone());
            record.is_ok_and(|record| fits(&record.facts(), cluster, &shards))
        };
        let search = self
            .discv5
            .find_node_predicate(target, Box::new(is_wanted), LOOKUP_NODES);
        search.await.unwrap_or_else(|error| {
            tracing::debug!(%error, "a discv5 look-up failed");
            Vec::new()
        })
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Discovered(enr) | Event::SessionEstablished(enr, _) => {
                if let Ok(record) = WakuRecord::from_enr(enr)
                    && fits(&record.facts(), self.cluster, &self.shards())
                {
                    self.offer(&record);
                }
            }
            Event::SocketUpdated(address) => {
                tracing::info!(%address, "other nodes see this node at a new address");
                // Some nodes may have reported an address before the host lost it.
                self.leave_lost_addresses();
                self.publish_record();
            }
            _ => {}
        }
    }

    fn offer(&self, record: &WakuRecord) {
        // A full queue loses the offer; the node will be found again.
        let _ = self.offers.try_send(record.offer(PeerSource::Discv5));
    }

    fn update_record(&mut self, content: &RecordValues) {
        self.remove_stale(content);
        let own = self.discv5.local_enr();
        for (key, value) in content {
            let old: Option<Bytes> = own.get_decodable(key).and_then(Result::ok);
            if old.as_deref() == Some(value.as_slice()) {
                continue;
            }
            let key = String::from_utf8_lossy(key);
            if let Err(error) = self.discv5.enr_insert(&key, &value.as_slice()) {
                tracing::warn!(%key, ?error, "the node's record has no room for a value");
            }
        }
        self.publish_record();
    }

    /// Removes keys that are in the record but no longer in the content, such as the list of shards when it becomes a
    /// bit vector. A record with both would name shards that the node has left.
    fn remove_stale(&self, content: &RecordValues) {
        let enr = self.discv5.external_enr();
        let mut enr = enr.write();
        for key in NODE_KEYS {
            let is_said = content.iter().any(|(said, _)| *said == key.as_bytes());
            if is_said || enr.get_raw_rlp(key).is_none() {
                continue;
            }
            if let Err(error) = enr.remove_key(key, &self.signing) {
                tracing::warn!(%key, ?error, "a value cannot be removed from the node's record");
            }
        }
    }

    /// Replaces addresses in the record that the host has lost; returns whether any were replaced.
    fn leave_lost_addresses(&self) -> bool {
        let own = self.discv5.local_enr();
        let (v4, v6) = (own.udp4_socket(), own.udp6_socket());
        let named = v4.map(SocketAddr::from).into_iter();
        let named = named.chain(v6.map(SocketAddr::from));
        let mut has_moved = false;
        for old in named {
            if let Some(ip) = self.addresses.replacement(old.ip()) {
                tracing::info!(from = %old.ip(), to = %ip, "the address of this node has changed");
                let new = SocketAddr::new(ip, old.port());
                has_moved |= self.discv5.update_local_enr_socket(new, false);
            }
        }
        has_moved
    }

    fn publish_record(&self) {
        let record = self.discv5.local_enr().to_base64();
        self.record.send_if_modified(|told| {
            let is_new = *told != record;
            *told = record;
            is_new
        });
    }

    fn shards(&self) -> Vec<u16> {
        let shards = self.shards.read().unwrap_or_else(|lock| lock.into_inner());
        shards.clone()
    }
}
