//! Scenario parameters of peer discovery.

/// Discovery of peers, in place of a topology: every node asks an offer service for others, and its connection manager
/// decides whom to dial.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Discovery {
    /// Number of nodes in an answer of the offer service, drawn at random; some of them may be away.
    pub offered: u32,
    /// Time from a request to its answer, nanoseconds.
    pub answer_ns: u64,
    /// Time after which both ends close a connection that is cut by a partition, nanoseconds. A shorter partition
    /// closes none.
    pub cut_noticed_after_ns: u64,
    /// Nodes that leave and come back; `None` if all stay.
    pub churn: Option<Churn>,
}

/// Nodes that leave and come back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Share of all nodes that leave in a minute, chosen at random; node 0 stays.
    pub share_per_minute: f64,
    /// Time for which a node is away, nanoseconds.
    pub away_ns: u64,
    /// Time from which nodes leave, nanoseconds.
    pub from_ns: u64,
    /// Time until which nodes leave, nanoseconds.
    pub until_ns: u64,
}

impl Default for Discovery {
    /// Answers of eight nodes after half a second, which is how long a discv5 look-up takes; cut connections close
    /// after 20 s, as real nodes close them when TCP gets no acknowledgement; no churn.
    fn default() -> Self {
        Self {
            offered: 8,
            answer_ns: 500_000_000,
            cut_noticed_after_ns: 20_000_000_000,
            churn: None,
        }
    }
}
