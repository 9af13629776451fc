//! What a follower asks of a chain and what it is told: plain values, nothing of JSON.

use alloy::primitives::{Address, B256};
use undertone_rln::{Fr, tree::DEPTH};

use crate::registry::{Member, MemberIndex};

/// How many roots the contract keeps.
pub(super) const RECENT_ROOTS: usize = 5;

/// The contract that is followed. Nothing read from one is ever mixed with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The chain's number, EIP-155.
    pub chain_id: u64,
    /// The contract, or its proxy.
    pub address: Address,
}

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRef {
    /// Its height.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
}

/// The newest block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The block itself.
    pub block: BlockRef,
    /// The block below it.
    pub parent: B256,
}

/// Something the contract reported, in the order of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The block that it is in.
    pub block: BlockRef,
    /// The transaction's place in its block.
    pub transaction: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What the contract reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// A member came; its leaf is written.
    Registered {
        /// The identity's commitment.
        commitment: Fr,
        /// Messages per epoch.
        limit: u32,
        /// Place in the tree.
        index: MemberIndex,
    },
    /// A membership ended. Whether the leaf was emptied too, the event does not tell.
    Erased {
        /// Place in the tree.
        index: MemberIndex,
    },
    /// A leaf was emptied. Only this project's own contract says so.
    Cleared {
        /// Place in the tree.
        index: MemberIndex,
    },
    /// The root after all changes of a call. Older deployments do not say so.
    Root(Fr),
}

/// What a follower does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It asks this, and is told the answer or that there is none.
    Ask(Ask),
    /// Nothing until it is woken.
    Idle,
}

/// A question to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// The newest block.
    Head,
    /// The hash of the block at this height.
    Header {
        /// The height.
        number: u64,
    },
    /// The contract's events of some blocks.
    Events {
        /// First block.
        from: u64,
        /// Last block.
        to: u64,
        /// Whether [`EventKind::Root`] is wanted; it doubles the answer.
        roots: bool,
    },
    /// The contract's root as of a block.
    Root {
        /// The block.
        at: BlockRef,
    },
    /// The contract's root as of a height, on whatever chain the endpoint follows.
    RootOf {
        /// The height; `None` for whatever is newest where the question arrives.
        height: Option<u64>,
    },
    /// How many leaves were ever written, as of a block.
    Count {
        /// The block.
        at: BlockRef,
    },
    /// Leaves as of a block.
    Leaves {
        /// The block.
        at: BlockRef,
        /// First index.
        first: u32,
        /// Last index.
        last: u32,
    },
    /// The contract's newest roots.
    Recent {
        /// The block; `None` for whatever is newest where the question arrives.
        at: Option<BlockRef>,
    },
    /// The membership of a commitment, as of a block.
    Membership {
        /// The commitment.
        commitment: Fr,
        /// The block.
        at: BlockRef,
    },
    /// The path of a leaf, as of a block.
    Path {
        /// Whose leaf.
        index: MemberIndex,
        /// The block.
        at: BlockRef,
    },
}

impl Ask {
    /// Whether an endpoint that does its work may say no: the contract may lack the function, or the
    /// endpoint the state of a block that is not the newest.
    pub(super) fn may_be_refused(&self) -> bool {
        matches!(self, Self::Recent { .. } | Self::RootOf { height: Some(_) })
    }
}

/// The newest roots as the contract keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    /// The oldest first, without repetitions of the one before; never 0.
    pub roots: Vec<Fr>,
    /// Whether there were more before. If not, these are all roots that there ever were.
    pub is_full: bool,
}

impl Recent {
    /// At most so many of them.
    pub(super) fn newest(&self, most: usize) -> Self {
        let surplus = self.roots.len().saturating_sub(most);
        Self {
            roots: self.roots[surplus..].to_vec(),
            is_full: self.is_full || surplus > 0,
        }
    }
}

/// What an endpoint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// To [`Ask::Head`].
    Head(Head),
    /// To [`Ask::Header`].
    Header(BlockRef),
    /// To [`Ask::Events`], in the order of the chain.
    Events(Vec<Event>),
    /// To [`Ask::Root`] and [`Ask::RootOf`].
    Root(Fr),
    /// To [`Ask::Count`].
    Count(u32),
    /// To [`Ask::Leaves`]; 0 for an empty one.
    Leaves(Vec<Fr>),
    /// To [`Ask::Recent`].
    Recent(Recent),
    /// To [`Ask::Membership`]; the leaf is in the tree.
    Membership(Option<Member>),
    /// To [`Ask::Path`]: the siblings, the leaf's own first.
    Path(Box<[Fr; DEPTH]>),
    /// To a question that [`Ask::may_be_refused`]: it cannot be answered.
    Refused,
}
