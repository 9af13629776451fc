//! State of light mode: roots, and the path of one member.

use undertone_rln::{Fr, MerklePath, RootWindow};

use crate::evm::chain::{BlockRef, Recent};
use crate::registry::{Member, MemberIndex, Version};
use crate::view::View;

/// Number of blocks for which the roots of abandoned blocks stay accepted.
pub(super) const ORPHAN_BLOCKS: u64 = crate::evm::follow::ORPHAN_BLOCKS;

/// The newest roots of a contract, and one member's path under the newest of them.
#[derive(Clone, Debug)]
pub struct LightView {
    window: usize,
    revision: u64,
    known: LightState,
    accepted: RootWindow,
}

/// The part of a [`LightView`] that is saved and survives a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LightState {
    /// The block as of which the state is known; `None` before the first.
    pub(super) block: Option<BlockRef>,
    /// Roots of the chain, the oldest first.
    pub(super) roots: Vec<Fr>,
    /// Roots of abandoned blocks, accepted for a while.
    pub(super) orphans: Vec<Orphan>,
    /// The commitment that was looked up, and its membership.
    pub(super) own: Option<Own>,
}

/// Root of an abandoned block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orphan {
    pub(super) root: Fr,
    /// Height of the last head with which the root is accepted.
    pub(super) until_block: u64,
}

/// The contract's answer about the watched commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) commitment: Fr,
    /// The member's place; `None` when the commitment is not registered.
    pub(super) place: Option<OwnPlace>,
}

/// A member and its Merkle path under the newest root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnPlace {
    pub(super) member: Member,
    pub(super) path: MerklePath,
}

/// Summary of changes made by an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Whether anything has changed.
    pub(super) is_any: bool,
    /// Whether roots were abandoned by a reorganisation.
    pub(super) is_fork: bool,
}

impl OwnPlace {
    /// Whether the path leads from the member's leaf to `root`.
    pub(super) fn leads_to(&self, root: Option<&Fr>) -> bool {
        root == Some(&self.path.root_of(self.member.leaf()))
    }
}

impl LightView {
    /// Creates an empty view that will accept the newest `capacity` roots.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            window: capacity,
            revision: 0,
            known: LightState::default(),
            accepted: RootWindow::new(capacity),
        }
    }

    /// Creates a view of saved state; a membership whose path does not fit the roots is dropped.
    pub(super) fn of(mut known: LightState, capacity: usize) -> Self {
        if let Some(own) = &known.own
            && let Some(place) = &own.place
            && !place.leads_to(known.roots.last())
        {
            known.own = None;
        }
        let mut view = Self {
            known,
            ..Self::new(capacity)
        };
        view.offer();
        view
    }

    pub(super) fn known(&self) -> &LightState {
        &self.known
    }

    /// Returns the membership of `commitment`; the outer `None` means that it was not requested.
    pub(super) fn membership(&self, commitment: Fr) -> Option<Option<Member>> {
        let own = self.known.own.as_ref();
        let own = own.filter(|own| own.commitment == commitment)?;
        Some(own.place.as_ref().map(|place| place.member))
    }

    /// Takes in the contract's newest roots as of `block`, and its answer about the watched
    /// commitment then; returns what changed.
    pub(super) fn take(&mut self, block: BlockRef, recent: &Recent, own: Option<Own>) -> News {
        let before = self.known.clone();
        let recent = &recent.newest(self.window);
        let follow = Merge::of(&self.known.roots, recent);
        let gone = self.known.roots.split_off(follow.kept);
        let until_block = block.number.saturating_add(ORPHAN_BLOCKS);
        let orphans = gone.iter().map(|root| Orphan {
            root: *root,
            until_block,
        });
        self.known.orphans.extend(orphans);
        self.known.roots.extend(&recent.roots[follow.known..]);
        let surplus = self.known.roots.len().saturating_sub(self.window);
        self.known.roots.drain(..surplus);

        let roots = &self.known.roots;
        let orphans = &mut self.known.orphans;
        orphans.retain(|it| it.until_block >= block.number && !roots.contains(&it.root));
        let surplus = orphans.len().saturating_sub(self.window);
        orphans.drain(..surplus);

        self.known.block = Some(block);
        self.known.own = own;
        let is_news = self.known.roots != before.roots
            || self.known.orphans != before.orphans
            || self.known.own != before.own;
        // The number of missed roots is unknown, so tokens of any age may be outdated.
        self.revision += match follow.is_gap {
            true => self.window as u64,
            false => (recent.roots.len() - follow.known) as u64,
        };
        self.revision += u64::from(is_news);
        self.offer();
        News {
            is_any: is_news,
            is_fork: !gone.is_empty(),
        }
    }

    fn offer(&mut self) {
        let mut accepted = RootWindow::new(2 * self.window);
        let orphans = self.known.orphans.iter().map(|orphan| orphan.root);
        for root in orphans.chain(self.known.roots.iter().copied()) {
            accepted.push(root);
        }
        self.accepted = accepted;
    }
}

/// Position of the contract's newest roots relative to the known ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Merge {
    /// Number of the known roots that are still on the chain.
    kept: usize,
    /// Number of the contract's roots that are already known.
    known: usize,
    /// Whether roots in between may be missing.
    is_gap: bool,
}

impl Merge {
    /// Finds the roots in common. The contract keeps consecutive roots, so known roots after the common ones
    /// belong to replaced blocks.
    fn of(roots: &[Fr], recent: &Recent) -> Self {
        let common = |from: usize| {
            let pairs = roots[from..].iter().zip(&recent.roots);
            pairs.take_while(|(known, new)| known == new).count()
        };
        let best = (0..roots.len()).map(|from| (common(from), from)).max();
        match best {
            Some((known @ 1.., from)) => Self {
                kept: from + known,
                known,
                is_gap: false,
            },
            // The contract reports all roots that it ever had, and none of them is known.
            _ if !recent.is_full => Self {
                kept: 0,
                known: 0,
                is_gap: false,
            },
            _ => Self {
                kept: roots.len(),
                known: 0,
                is_gap: true,
            },
        }
    }
}

impl View for LightView {
    fn roots(&self) -> &RootWindow {
        &self.accepted
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn members(&self) -> Option<usize> {
        None
    }

    fn path(&self, index: MemberIndex) -> Option<MerklePath> {
        let place = self.known.own.as_ref()?.place.as_ref()?;
        (place.member.index == index).then(|| place.path.clone())
    }
}

#[cfg(test)]
#[path = "tests/view.rs"]
mod tests;
