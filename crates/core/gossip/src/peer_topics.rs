//! Topics that a peer is subscribed to.

use crate::topics::TopicIx;

/// Sorted topics of a peer. Most peers are subscribed to one, which is stored inline.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::box_collection,
    reason = "a vector would make the state of every peer eight bytes larger"
)]
pub(crate) enum PeerTopics {
    #[default]
    None,
    One(TopicIx),
    Several(Box<Vec<TopicIx>>),
}

impl PeerTopics {
    pub(crate) fn as_slice(&self) -> &[TopicIx] {
        match self {
            Self::None => &[],
            Self::One(topic) => std::slice::from_ref(topic),
            Self::Several(topics) => topics,
        }
    }

    pub(crate) fn contains(&self, topic: TopicIx) -> bool {
        self.as_slice().binary_search(&topic).is_ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Adds a topic; returns whether it is new.
    pub(crate) fn insert(&mut self, topic: TopicIx) -> bool {
        let Err(at) = self.as_slice().binary_search(&topic) else {
            return false;
        };
        match self {
            Self::None => *self = Self::One(topic),
            Self::One(first) => {
                let mut topics = vec![*first];
                topics.insert(at, topic);
                *self = Self::Several(Box::new(topics));
            }
            Self::Several(topics) => topics.insert(at, topic),
        }
        true
    }

    /// Removes a topic; returns whether it was there.
    pub(crate) fn remove(&mut self, topic: TopicIx) -> bool {
        let Ok(at) = self.as_slice().binary_search(&topic) else {
            return false;
        };
        match self {
            Self::None | Self::One(_) => *self = Self::None,
            Self::Several(topics) => {
                topics.remove(at);
                if topics.is_empty() {
                    *self = Self::None;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::PeerTopics;
    use crate::topics::TopicIx;

    proptest! {
        #[test]
        fn topics_are_a_sorted_set(ops in prop::collection::vec((any::<bool>(), 0..5u32), 0..40)) {
            let (mut topics, mut model) = (PeerTopics::default(), BTreeSet::new());
            for (adds, number) in ops {
                let topic = TopicIx::for_test(number);
                match adds {
                    true => prop_assert_eq!(topics.insert(topic), model.insert(topic)),
                    false => prop_assert_eq!(topics.remove(topic), model.remove(&topic)),
                }
                prop_assert!(topics.as_slice().iter().eq(&model));
                prop_assert_eq!(topics.len(), model.len());
                prop_assert_eq!(topics.contains(topic), model.contains(&topic));
            }
        }
    }
}
