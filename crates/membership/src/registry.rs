//! What every registry of members offers, wherever it keeps them.

use std::fmt;

use undertone_rln::tree::{CAPACITY, MerkleTree};
use undertone_rln::{Fr, rate_commitment};

use crate::evm::Status;
use crate::sqlite::StorageError;

/// The largest limit that the circuit can hold, in messages per epoch.
pub const MAX_LIMIT: u32 = undertone_rln::prover::MAX_LIMIT;

/// A member's place in the membership tree, less than 2^20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberIndex(u32);

impl MemberIndex {
    /// The index, if the tree has such a leaf.
    pub fn new(index: u32) -> Option<Self> {
        (index < CAPACITY).then_some(Self(index))
    }

    /// The index as a number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for MemberIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many changes a registry has seen; 0 is the empty registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What tells one registry from another: 16 bytes, drawn or derived when the registry was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryId(pub [u8; 16]);

impl fmt::Display for RegistryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A present member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Place in the tree.
    pub index: MemberIndex,
    /// The identity's commitment.
    pub commitment: Fr,
    /// Messages per epoch.
    pub limit: u32,
}

impl Member {
    /// The member's leaf.
    pub fn leaf(&self) -> Fr {
        rate_commitment(self.commitment, self.limit)
    }
}

/// One entry of a registry's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The registry's version after this change.
    pub version: Version,
    /// Whose leaf changes.
    pub index: MemberIndex,
    /// What happened.
    pub kind: ChangeKind,
}

/// What a change does to a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A member came.
    Registered {
        /// The identity's commitment.
        commitment: Fr,
        /// Messages per epoch.
        limit: u32,
    },
    /// The member left or was removed; the leaf is empty again.
    Removed,
    /// The leaf was read as such; who the member is, is not known.
    Placed {
        /// The leaf.
        leaf: Fr,
    },
}

/// A registry of members. Calls may block: on a disk lock, or on a chain.
///
/// Its state is a log: version `v` is the state after the first `v` changes. Followers read the
/// changes after the version that they know, see [`crate::MembershipView`].
pub trait Registry: Send + Sync {
    /// Which registry this is: the same for as long as its log only grows, wherever it is kept.
    fn id(&self) -> RegistryId;

    /// Registers a commitment with a limit in messages per epoch.
    ///
    /// # Errors
    /// [`RegistryError::ZeroCommitment`], [`RegistryError::LimitOutOfRange`],
    /// [`RegistryError::AlreadyRegistered`], [`RegistryError::Full`].
    fn register(&self, commitment: Fr, limit: u32) -> Result<MemberIndex, RegistryError>;

    /// Empties a member's leaf.
    ///
    /// # Errors
    /// [`RegistryError::UnknownMember`] when there is none.
    fn remove(&self, index: MemberIndex) -> Result<(), RegistryError>;

    /// The present member with this commitment.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn find(&self, commitment: Fr) -> Result<Option<Member>, RegistryError>;

    /// All present members, by index.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn members(&self) -> Result<Vec<Member>, RegistryError>;

    /// The present version.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn version(&self) -> Result<Version, RegistryError>;

    /// The first `max_changes` changes after `known`, in order. Fewer mean that the end is reached.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn changes_since(
        &self,
        known: Version,
        max_changes: usize,
    ) -> Result<Vec<Change>, RegistryError>;

    /// Says that newer changes are wanted soon: someone refers to one that is not known here. A
    /// registry that is always up to date has nothing to do.
    fn hurry(&self) {}

    /// Why the changes known here may not be all there are; `None` when nothing is amiss.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// How a chain is followed; `None` where there is none.
    fn chain(&self) -> Option<Status> {
        None
    }

    /// The tree of the present members, built from scratch.
    ///
    /// # Errors
    /// When the registry cannot be read.
    fn tree(&self) -> Result<MerkleTree, RegistryError> {
        let members = self.members()?;
        let leaves: Vec<_> = members.iter().map(|m| (m.index.get(), m.leaf())).collect();
        let mut tree = MerkleTree::new();
        tree.set_many(&leaves)
            .expect("every MemberIndex is inside the tree");
        Ok(tree)
    }
}

/// Why a registry did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No identity has this commitment.
    #[error("commitment 0 belongs to no identity; register the commitment of a generated one")]
    ZeroCommitment,
    /// The limit is not one that this registry gives.
    #[error("limit {limit} is outside 1..={max_limit} messages per epoch; ask for less")]
    LimitOutOfRange {
        /// The limit asked for.
        limit: u32,
        /// The most that this registry gives.
        max_limit: u32,
    },
    /// The commitment is a member's already.
    #[error("the commitment is registered already, as member {index}; use that membership")]
    AlreadyRegistered {
        /// The present membership.
        index: MemberIndex,
    },
    /// All leaves have been given out.
    #[error("all {CAPACITY} leaves of the membership tree were given out; start a new registry")]
    Full,
    /// There is no such member.
    #[error("there is no member {index}; list the members to see who is there")]
    UnknownMember {
        /// The index asked for.
        index: MemberIndex,
    },
    /// The registry is older than what a follower has seen of it.
    #[error(
        "the registry is at version {found}, but was at {known} before: it was replaced or rolled \
         back; restart to follow it from the beginning"
    )]
    RolledBack {
        /// The version seen before.
        known: Version,
        /// The version now.
        found: Version,
    },
    /// The log of changes has a hole.
    #[error("the registry's log goes from version {known} to {found}; restore it from a backup")]
    Gap {
        /// The last version in order.
        known: Version,
        /// The version that came after it.
        found: Version,
    },
    /// Members come and go by transactions on a chain, which are not made here.
    #[error(
        "this registry only follows a chain; register and leave by a transaction to the membership \
         contract"
    )]
    ReadOnly,
    /// Nobody has told yet.
    #[error(
        "the contract was not asked for this commitment yet; ask again when an endpoint has answered"
    )]
    NotAnswered,
    /// The registry does without.
    #[error("light mode knows roots and one member's path, not {what}; use full mode for that")]
    NotKept {
        /// What was asked for.
        what: &'static str,
    },
    /// The registry's file gives trouble.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
