//! A follower's questions to a chain and the answers, as plain values without JSON.

use alloy::primitives::{Address, B256, keccak256};
use undertone_rln::{Fr, tree::DEPTH};

use crate::registry::{Member, MemberIndex, RegistryId};

/// Number of recent roots that the contract keeps.
pub(super) const RECENT_ROOTS: usize = 5;

/// The followed contract. Data of one contract is never mixed with that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Chain id, as of EIP-155.
    pub chain_id: u64,
    /// Address of the contract, or of its proxy.
    pub address: Address,
}

impl Contract {
    /// Derives the identifier of the contract's registry from its chain id and address.
    pub(super) fn registry_id(&self) -> RegistryId {
        let place = [&self.chain_id.to_be_bytes()[..], self.address.as_slice()].concat();
        let mut id = [0; 16];
        id.copy_from_slice(&keccak256(place)[..16]);
        RegistryId(id)
    }
}

/// Height and hash of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRef {
    /// Height of the block.
    pub number: u64,
    /// Hash of the block.
    pub hash: B256,
}

/// The newest block and its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The newest block itself.
    pub block: BlockRef,
    /// Hash of the parent block.
    pub parent: B256,
}

/// Event of the contract; events are in the order of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContractEvent {
    /// The block that contains the event.
    pub block: BlockRef,
    /// Index of the transaction in its block.
    pub transaction: u64,
    /// The kind of event.
    pub kind: EventKind,
}

/// The kind of an event of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// A member was registered and its leaf written.
    Registered {
        /// Commitment of the member's identity.
        commitment: Fr,
        /// Message limit, in messages per epoch.
        limit: u32,
        /// Index of the leaf in the tree.
        index: MemberIndex,
    },
    /// A membership ended. The event does not say whether the leaf was emptied too.
    Erased {
        /// Index of the leaf in the tree.
        index: MemberIndex,
    },
    /// A leaf was emptied. Only this project's own contract emits this event.
    Cleared {
        /// Index of the leaf in the tree.
        index: MemberIndex,
    },
    /// The root after all changes of a call. Older deployments do not emit this event.
    Root(Fr),
}

/// Next action of a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send this request, then give the follower the answer or report the failure.
    Ask(Ask),
    /// Do nothing until the follower is woken.
    Idle,
}

/// Request to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// The newest block of the chain.
    Head,
    /// The hash of the block at this height.
    Header {
        /// Height of the block.
        number: u64,
    },
    /// The time of the block at this height.
    Time {
        /// Height of the block.
        number: u64,
    },
    /// The contract's events in a range of blocks.
    Events {
        /// Height of the first block.
        from: u64,
        /// Height of the last block, inclusive.
        to: u64,
        /// Whether [`EventKind::Root`] is included; it doubles the answer.
        roots: bool,
    },
    /// The contract's root as of a block.
    Root {
        /// The block as of which the state is read.
        at: BlockRef,
    },
    /// The contract's root as of a height, on whichever fork the endpoint follows.
    RootOf {
        /// Height of the block; `None` for the newest block that the endpoint has.
        height: Option<u64>,
    },
    /// The number of leaves ever written, as of a block.
    Count {
        /// The block as of which the state is read.
        at: BlockRef,
    },
    /// A range of leaves as of a block.
    Leaves {
        /// The block as of which the state is read.
        at: BlockRef,
        /// Index of the first leaf.
        first: u32,
        /// Index of the last leaf, inclusive.
        last: u32,
    },
    /// The contract's recent roots.
    Recent {
        /// The block as of which they are read; `None` for the newest block that the endpoint has.
        at: Option<BlockRef>,
    },
    /// The membership of a commitment, as of a block.
    Membership {
        /// Commitment of the member's identity.
        commitment: Fr,
        /// The block as of which the state is read.
        at: BlockRef,
    },
    /// The Merkle path of a leaf, as of a block.
    Path {
        /// Index of the leaf.
        index: MemberIndex,
        /// The block as of which the state is read.
        at: BlockRef,
    },
}

impl Ask {
    /// Whether a working endpoint may refuse the request: the contract may lack the function, or
    /// the endpoint may lack the state of a block that is not the newest.
    pub(super) fn may_be_refused(&self) -> bool {
        matches!(self, Self::Recent { .. } | Self::RootOf { height: Some(_) })
    }
}

/// The recent roots that the contract keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    /// The roots, the oldest first, without consecutive duplicates; never 0.
    pub roots: Vec<Fr>,
    /// Whether there may be earlier roots. If not, these are all roots that the contract ever had.
    pub is_full: bool,
}

impl Recent {
    /// Returns only the newest `most` roots.
    pub(super) fn newest(&self, most: usize) -> Self {
        let surplus = self.roots.len().saturating_sub(most);
        Self {
            roots: self.roots[surplus..].to_vec(),
            is_full: self.is_full || surplus > 0,
        }
    }
}

/// Answer of an endpoint to an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Answer to [`Ask::Head`].
    Head(Head),
    /// Answer to [`Ask::Header`].
    Header(BlockRef),
    /// Answer to [`Ask::Time`]: Unix time of the block, in seconds.
    Time(u64),
    /// Answer to [`Ask::Events`], in the order of the chain.
    Events(Vec<ContractEvent>),
    /// Answer to [`Ask::Root`] and [`Ask::RootOf`].
    Root(Fr),
    /// Answer to [`Ask::Count`].
    Count(u32),
    /// Answer to [`Ask::Leaves`]; 0 for an empty leaf.
    Leaves(Vec<Fr>),
    /// Answer to [`Ask::Recent`].
    Recent(Recent),
    /// Answer to [`Ask::Membership`]: a member whose leaf is in the tree, or `None`.
    Membership(Option<Member>),
    /// Answer to [`Ask::Path`]: the siblings, starting at the leaf.
    Path(Box<[Fr; DEPTH]>),
    /// The endpoint refused a request that [`Ask::may_be_refused`].
    Refused,
}
