//! What light mode knows: roots, and the path of one member.

use undertone_rln::{Fr, MerklePath, RootWindow};

use crate::evm::chain::{BlockRef, Recent};
use crate::registry::{Member, MemberIndex, Registry, RegistryError, Version};
use crate::view::{MembershipView, View};

/// Blocks for which the roots of a reorganised chain stay accepted.
pub(super) const ORPHAN_BLOCKS: u64 = crate::evm::follow::ORPHAN_BLOCKS;

/// The newest roots of a contract, and one member's path under the newest of them.
#[derive(Clone, Debug)]
pub struct LightView {
    window: usize,
    revision: u64,
    known: Known,
    accepted: RootWindow,
}

/// All of a [`LightView`] that survives a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The block that all this is of; `None` before the first.
    pub(super) block: Option<BlockRef>,
    /// Roots that were seen, the oldest first.
    pub(super) roots: Vec<Fr>,
    /// Roots of blocks that are no longer on the chain.
    pub(super) orphans: Vec<Orphan>,
    /// The commitment that was looked up, and its membership.
    pub(super) own: Option<Own>,
}

/// A root of a block that is no longer on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orphan {
    pub(super) root: Fr,
    /// The last block with which it is accepted.
    pub(super) until_block: u64,
}

/// What the contract says of a commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) commitment: Fr,
    /// `None` when it is not registered.
    pub(super) place: Option<Place>,
}

/// A member, and its path under the newest root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) member: Member,
    pub(super) path: MerklePath,
}

/// What has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Anything.
    pub(super) is_any: bool,
    /// Roots were taken back.
    pub(super) is_fork: bool,
}

impl Place {
    /// Whether the path leads from the member's leaf to `root`.
    pub(super) fn leads_to(&self, root: Option<&Fr>) -> bool {
        root == Some(&self.path.root_of(self.member.leaf()))
    }
}

impl LightView {
    /// A view that knows nothing and will accept the newest `capacity` roots.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            window: capacity,
            revision: 0,
            known: Known::default(),
            accepted: RootWindow::new(capacity),
        }
    }

    /// A view of what was known before. Believed as far as it fits together.
    pub(super) fn of(mut known: Known, capacity: usize) -> Self {
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

    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// The membership of `commitment`; the outer `None` when that was not asked for.
    pub(super) fn membership(&self, commitment: Fr) -> Option<Option<Member>> {
        let own = self.known.own.as_ref();
        let own = own.filter(|own| own.commitment == commitment)?;
        Some(own.place.as_ref().map(|place| place.member))
    }

    /// Takes in the contract's newest roots as of `block`, and what it says of our commitment then;
    /// tells what that changed.
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
        // How many roots were missed is not known: tokens of any age may be too old.
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

/// How the contract's newest roots go on from those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Merge {
    /// How many of the known roots are still of the chain.
    kept: usize,
    /// How many of the contract's are known.
    known: usize,
    /// Whether roots between may be missing.
    is_gap: bool,
}

impl Merge {
    /// The contract keeps consecutive roots: after the place where its oldest is known, the known
    /// ones that it does not repeat are of blocks that were replaced.
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
            // All roots that there ever were, and none of them is known.
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

    /// It moves by itself, see [`super::LightRegistry`].
    fn refresh(&mut self, _: &dyn Registry) -> Result<bool, RegistryError> {
        Ok(false)
    }

    fn copy(&self) -> Option<MembershipView> {
        None
    }
}

#[cfg(test)]
mod tests;
