//! Rules on which implementations of GossipSub differ, because the specification leaves a choice.

/// Choices of an implementation. The defaults are this router's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouterPolicy {
    /// Name of the profile that defines the choices, for results.
    pub profile: &'static str,
    /// When a mesh is pruned, and to what size.
    pub trim: MeshTrim,
    /// Whether a newly subscribed peer is grafted at once while the mesh is too small, not only at the next heartbeat.
    pub grafts_newcomers: bool,
    /// Whether a copy that waits in the send queue is dropped when its receiver is known to have the message.
    pub cancels_queued: bool,
    /// Order in which the copies of a message are sent.
    pub send_order: SendOrder,
}

/// When a mesh is pruned, and to what size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshTrim {
    /// Above `d_high`, to D members.
    AboveToD,
    /// At `d_high` or above, to D members.
    ReachedToD,
    /// Above `d_high`, to no fixed size. The `d_score` best members stay, and up to `d_out` outbound ones among the
    /// others. Of the rest, those beyond D are pruned, or all of it if there are no more than D.
    AllBelowScore,
}

/// Order in which the copies of a message are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOrder {
    /// The same for every message: members of the mesh, then other peers, each by index.
    Fixed,
    /// Drawn anew for every message.
    Random,
}

impl Default for RouterPolicy {
    fn default() -> Self {
        Self {
            profile: "undertone",
            trim: MeshTrim::AboveToD,
            grafts_newcomers: true,
            cancels_queued: true,
            send_order: SendOrder::Fixed,
        }
    }
}

impl MeshTrim {
    /// Whether a mesh of `members` must be trimmed.
    pub(crate) fn is_due(self, members: usize, d_high: usize) -> bool {
        match self {
            Self::AboveToD | Self::AllBelowScore => members > d_high,
            Self::ReachedToD => members >= d_high,
        }
    }
}
