//! Wire features of each protocol id, as data instead of conditionals.

/// Wire features of a peer, determined by its protocol id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Features {
    /// GRAFT, PRUNE, IHAVE and IWANT are understood. Without them the peer is sent every message.
    pub mesh: bool,
    /// PRUNE may carry a backoff and offered peers (v1.1).
    pub prune_details: bool,
    /// IDONTWANT is understood (v1.2).
    pub idontwant: bool,
    /// Copies of large messages may be delayed, or first replaced by their ids (IHAVE).
    pub large_messages: bool,
    /// The mark of messages in the stem of Dandelion++ is understood, see
    /// [`stem_frame`](crate::wire::stem_frame).
    pub stem: bool,
}

/// A protocol id and the features that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protocol {
    /// Protocol id as negotiated on the stream.
    pub id: &'static str,
    /// Features allowed on this protocol.
    pub features: Features,
}

const FLOOD: Features = Features {
    mesh: false,
    prune_details: false,
    idontwant: false,
    large_messages: false,
    stem: false,
};
const V1_0: Features = Features {
    mesh: true,
    ..FLOOD
};
const V1_1: Features = Features {
    prune_details: true,
    ..V1_0
};
const V1_2: Features = Features {
    idontwant: true,
    ..V1_1
};

const LARGE: Features = Features {
    large_messages: true,
    ..V1_2
};

const STEM: Features = Features { stem: true, ..V1_2 };

/// Protocol id by which nodes agree on alternative ways of sending large messages, whichever each of
/// them uses; the wire format is that of v1.2.
pub const LARGE_MESSAGES_ID: &str = "/undertone/relay-large/1.0.0";

/// Protocol id by which nodes agree to pass messages on in the stem of Dandelion++; the wire format is that of v1.2
/// and the mark of [`stem_frame`](crate::wire::stem_frame).
pub const STEM_ID: &str = "/undertone/relay-stem/1.0.0";

/// Protocol ids that the router knows, the preferred one first.
///
/// Waku's id has IDONTWANT although it is not a meshsub id: nim-libp2p withholds it only on meshsub 1.0
/// and 1.1, and an implementation that does not know the field skips it.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol {
        id: LARGE_MESSAGES_ID,
        features: LARGE,
    },
    Protocol {
        id: STEM_ID,
        features: STEM,
    },
    Protocol {
        id: "/vac/waku/relay/2.0.0",
        features: V1_2,
    },
    Protocol {
        id: "/meshsub/1.2.0",
        features: V1_2,
    },
    Protocol {
        id: "/meshsub/1.1.0",
        features: V1_1,
    },
    Protocol {
        id: "/meshsub/1.0.0",
        features: V1_0,
    },
    Protocol {
        id: "/floodsub/1.0.0",
        features: FLOOD,
    },
];

impl Features {
    /// Features of a negotiated protocol id; `None` for an unknown id.
    pub fn of(id: &str) -> Option<Self> {
        PROTOCOLS.iter().find(|p| p.id == id).map(|p| p.features)
    }

    /// Features that two peers both have.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self {
            mesh: self.mesh && other.mesh,
            prune_details: self.prune_details && other.prune_details,
            idontwant: self.idontwant && other.idontwant,
            large_messages: self.large_messages && other.large_messages,
            stem: self.stem && other.stem,
        }
    }
}
