//! Traits of registries of members, for followers and for look-ups, and their types.

use std::fmt;

use undertone_rln::tree::{CAPACITY, MerkleTree};
use undertone_rln::{Fr, rate_commitment};

use crate::storage::StorageError;

/// The largest message limit that the circuit supports, in messages per epoch.
pub const MAX_LIMIT: u32 = undertone_rln::prover::MAX_LIMIT;

/// Index of a member's leaf in the membership tree, less than 2^20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberIndex(u32);

impl MemberIndex {
    /// Creates an index; `None` if the tree has no such leaf.
    pub fn new(index: u32) -> Option<Self> {
        (index < CAPACITY).then_some(Self(index))
    }

    /// Returns the index as a number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for MemberIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Version of a registry: its number of changes so far; 0 for the empty registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identifier of a registry: 16 bytes, random or derived when the registry was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryId(pub [u8; 16]);

impl fmt::Display for RegistryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A member whose leaf is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Index of the member's leaf in the tree.
    pub index: MemberIndex,
    /// Commitment of the member's identity.
    pub commitment: Fr,
    /// Message limit, in messages per epoch.
    pub limit: u32,
}

impl Member {
    /// Computes the member's leaf from the commitment and the limit.
    pub fn leaf(&self) -> Fr {
        rate_commitment(self.commitment, self.limit)
    }
}

/// One entry of a registry's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Version of the registry after this change.
    pub version: Version,
    /// Index of the leaf that changes.
    pub index: MemberIndex,
    /// The kind of change made to the leaf.
    pub kind: ChangeKind,
}

/// The kind of change made to a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A member was registered in the leaf.
    Registered {
        /// Commitment of the member's identity.
        commitment: Fr,
        /// Message limit, in messages per epoch.
        limit: u32,
    },
    /// The member left or was removed; the leaf is empty again.
    Removed,
    /// The leaf was read from the contract as a hash; its commitment and limit are not known.
    Placed {
        /// The new value of the leaf.
        leaf: Fr,
    },
}

/// Log of a registry's changes, for followers such as [`crate::MembershipView`].
///
/// Version `v` is the state after the first `v` changes. Calls may block on a disk lock.
pub trait MembershipLog: Send + Sync {
    /// Returns the registry's identifier, which stays the same as long as the log only grows, wherever it is
    /// stored.
    fn id(&self) -> RegistryId;

    /// Returns the registry's present version.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn version(&self) -> Result<Version, RegistryError>;

    /// Returns the first `max_changes` changes after `known`, in order. Fewer are returned at the end of the
    /// log.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn changes_since(
        &self,
        known: Version,
        max_changes: usize,
    ) -> Result<Vec<Change>, RegistryError>;
}

/// One entry of a registry's log, with its place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatedChange {
    /// The entry itself.
    pub change: Change,
    /// Moment of the change: a number that never decreases along the log, and that several changes may share.
    /// On a chain it is the height of the block.
    pub moment: u64,
    /// Time of the change, Unix nanoseconds; `None` if the log does not have it.
    pub unix_ns: Option<u64>,
}

/// Log that knows when its changes were made, for users that need the membership at an earlier time.
pub trait DatedLog: MembershipLog {
    /// Returns what [`MembershipLog::changes_since`] returns, with the changes' places in time.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn dated_changes_since(
        &self,
        known: Version,
        max_changes: usize,
    ) -> Result<Vec<DatedChange>, RegistryError>;
}

/// Look-up of the present members. Calls may block on a disk lock.
pub trait MemberLookup: Send + Sync {
    /// Returns the present member with this commitment.
    ///
    /// # Errors
    /// [`RegistryError::NotAnswered`] when no endpoint of a chain has answered yet, or any error of
    /// reading the registry.
    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError>;
}

/// Builds the membership tree of these members from scratch.
pub fn tree_of(members: &[Member]) -> MerkleTree {
    let leaves: Vec<_> = members.iter().map(|m| (m.index.get(), m.leaf())).collect();
    let mut tree = MerkleTree::new();
    tree.set_many(&leaves)
        .expect("every MemberIndex is inside the tree");
    tree
}

/// Error of a registry operation.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The commitment is 0, which no identity has.
    #[error("commitment 0 belongs to no identity; register the commitment of a generated one")]
    ZeroCommitment,
    /// The requested limit is outside the range that this registry grants.
    #[error("limit {limit} is outside 1..={max_limit} messages per epoch; ask for less")]
    LimitOutOfRange {
        /// The requested limit, in messages per epoch.
        limit: u32,
        /// The largest limit that this registry grants.
        max_limit: u32,
    },
    /// The commitment is already registered.
    #[error("the commitment is registered already, as member {index}; use that membership")]
    AlreadyRegistered {
        /// Index of the existing membership.
        index: MemberIndex,
    },
    /// All leaves of the tree have been used.
    #[error("all {CAPACITY} leaves of the membership tree were given out; start a new registry")]
    Full,
    /// There is no member with this index.
    #[error("there is no member {index}; list the members to see who is there")]
    UnknownMember {
        /// The requested index.
        index: MemberIndex,
    },
    /// The registry is older than what a follower has seen of it.
    #[error(
        "the registry is at version {found}, but was at {known} before: it was replaced or rolled \
         back; restart to follow it from the beginning"
    )]
    RolledBack {
        /// The version that the follower saw before.
        known: Version,
        /// The registry's version now.
        found: Version,
    },
    /// A version is missing from the log of changes.
    #[error("the registry's log jumps from version {known} to {found}; restore it from a backup")]
    Gap {
        /// The last version before the gap.
        known: Version,
        /// The version after the gap.
        found: Version,
    },
    /// No endpoint has answered yet whether this commitment is registered.
    #[error("no endpoint has answered for this commitment yet; ask again when one has")]
    NotAnswered,
    /// The registry's file could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
