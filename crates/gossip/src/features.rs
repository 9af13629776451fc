//! Which wire features go with which protocol id: data, not `if`s.

/// What may be sent to a peer that speaks a given protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// GRAFT, PRUNE, IHAVE and IWANT. Without it the peer is flooded.
    pub mesh: bool,
    /// Peer exchange and a backoff in PRUNE (v1.1).
    pub prune_details: bool,
    /// IDONTWANT (v1.2).
    pub idontwant: bool,
    /// The peer takes copies of large messages that come later, or only their ids at first.
    pub large_messages: bool,
}

/// One protocol id and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The id as negotiated on the stream.
    pub id: &'static str,
    /// What may be sent on it.
    pub features: Features,
}

const FLOOD: Features = Features {
    mesh: false,
    prune_details: false,
    idontwant: false,
    large_messages: false,
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

/// The id under which nodes agree on other ways to spread large messages, whichever each of them
/// uses: the wire is that of v1.2.
pub const LARGE_MESSAGES_ID: &str = "/undertone/relay-large/1.0.0";

/// Every protocol id the router knows, best first.
///
/// Waku's id has IDONTWANT although it is no meshsub id: nim-libp2p excludes only meshsub 1.0 and
/// 1.1 from it, and an implementation that does not know the field skips it.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol {
        id: LARGE_MESSAGES_ID,
        features: LARGE,
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
    /// The features that go with a negotiated protocol id.
    pub fn of(id: &str) -> Option<Self> {
        PROTOCOLS.iter().find(|p| p.id == id).map(|p| p.features)
    }
}
