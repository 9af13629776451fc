//! Known topics: those of this node, and those that peers are subscribed to.

use undertone_compact::FewMap;

use crate::limits::Limits;
use crate::time::Time;
use crate::traffic::Meter;
use crate::types::{PeerIx, Topic};

/// Small dense integer that stands for a topic within this router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopicIx(u32);

impl TopicIx {
    pub(crate) fn slot(self) -> usize {
        self.0 as usize
    }

    #[cfg(test)]
    pub(crate) fn for_test(number: u32) -> Self {
        Self(number)
    }
}

/// Sorted set of peers. It has a few dozen entries, for which a sorted vector beats a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PeerSet(Vec<PeerIx>);

impl PeerSet {
    pub(crate) fn insert(&mut self, peer: PeerIx) -> bool {
        match self.0.binary_search(&peer) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, peer);
                true
            }
        }
    }

    pub(crate) fn remove(&mut self, peer: PeerIx) -> bool {
        match self.0.binary_search(&peer) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    pub(crate) fn contains(&self, peer: PeerIx) -> bool {
        self.0.binary_search(&peer).is_ok()
    }

    pub(crate) fn as_slice(&self) -> &[PeerIx] {
        &self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<PeerIx> for PeerSet {
    fn from_iter<I: IntoIterator<Item = PeerIx>>(peers: I) -> Self {
        let mut peers: Vec<_> = peers.into_iter().collect();
        peers.sort_unstable();
        peers.dedup();
        Self(peers)
    }
}

/// State of one topic.
#[derive(Clone, Debug)]
pub(crate) struct TopicState {
    pub(crate) name: Topic,
    /// Whether this node is subscribed.
    pub(crate) joined: bool,
    /// Whether this node ever joined or published; such a topic keeps its index, because caches hold it.
    pub(crate) ours: bool,
    /// Connected peers that are subscribed to the topic.
    pub(crate) subscribers: PeerSet,
    /// Peers in the mesh of this node; empty unless joined.
    pub(crate) mesh: PeerSet,
    /// Peers that get published messages while this node is not subscribed.
    pub(crate) fanout: PeerSet,
    pub(crate) last_publish: Time,
    /// Account of its bytes.
    pub(crate) meter: Meter,
}

/// Number of topics up to which memory is reserved exactly.
const FEW_TOPICS: usize = 8;

/// All known topics, bounded by `topics_max`.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    slots: Vec<Option<TopicState>>,
    by_name: FewMap<Topic, TopicIx>,
    free: Vec<TopicIx>,
}

impl Topics {
    pub(crate) fn find(&self, name: &Topic) -> Option<TopicIx> {
        self.by_name.get(name).copied()
    }

    /// Returns the index of a topic, which is created if there is room. The flag tells whether it was
    /// created; its name is then `keep(name)`, computed after the limits were checked.
    pub(crate) fn intern(
        &mut self,
        name: &Topic,
        limits: &Limits,
        keep: fn(&Topic) -> Topic,
    ) -> Option<(TopicIx, bool)> {
        if let Some(ix) = self.find(name) {
            return Some((ix, false));
        }
        if self.by_name.len() >= limits.topics_max || name.as_bytes().len() > limits.topic_bytes_max
        {
            return None;
        }
        let name = keep(name);
        let ix = self.free.pop().unwrap_or_else(|| {
            if self.slots.len() < FEW_TOPICS {
                self.slots.reserve_exact(1);
            }
            self.slots.push(None);
            TopicIx(u32::try_from(self.slots.len() - 1).expect("topics_max is far below 2^32"))
        });
        self.by_name.insert(name.clone(), ix);
        self.slots[ix.0 as usize] = Some(TopicState {
            name,
            joined: false,
            ours: false,
            subscribers: PeerSet::default(),
            mesh: PeerSet::default(),
            fanout: PeerSet::default(),
            last_publish: Time::ZERO,
            meter: Meter::default(),
        });
        Some((ix, true))
    }

    /// Removes a topic that this node does not use and no peer is subscribed to; returns whether it did.
    pub(crate) fn release(&mut self, ix: TopicIx) -> bool {
        let topic = self.get(ix);
        if topic.ours || !topic.subscribers.is_empty() {
            return false;
        }
        let name = topic.name.clone();
        self.by_name.remove(&name);
        self.slots[ix.0 as usize] = None;
        self.free.push(ix);
        true
    }

    pub(crate) fn get(&self, ix: TopicIx) -> &TopicState {
        self.slots[ix.0 as usize]
            .as_ref()
            .expect("an index is held only while its topic lives")
    }

    pub(crate) fn get_mut(&mut self, ix: TopicIx) -> &mut TopicState {
        self.slots[ix.0 as usize]
            .as_mut()
            .expect("an index is held only while its topic lives")
    }

    /// All topics, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TopicIx, &TopicState)> {
        let numbered = (0..).map(TopicIx).zip(&self.slots);
        numbered.filter_map(|(ix, slot)| slot.as_ref().map(|topic| (ix, topic)))
    }

    /// Topics that this node is subscribed to.
    pub(crate) fn joined(&self) -> Vec<TopicIx> {
        self.iter()
            .filter(|(_, topic)| topic.joined)
            .map(|(ix, _)| ix)
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}
