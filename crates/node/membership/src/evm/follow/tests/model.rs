//! Chain in memory: a minimal model that answers as an honest endpoint does.

use alloy::primitives::B256;
use undertone_rln::{Fr, MerkleTree, rate_commitment};

use crate::evm::chain::{Answer, Ask, BlockRef, ContractEvent, EventKind, Head};
use crate::registry::MemberIndex;

/// Events that the contract emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// Registrations and erasures, as the first deployments.
    Little,
    /// Roots as well.
    Roots,
    /// Roots and emptied leaves as well.
    All,
}

#[derive(Clone)]
struct Block {
    hash: B256,
    events: Vec<ContractEvent>,
    leaves: Vec<Fr>,
    /// Indices for the next registrations, the last first.
    free: Vec<u32>,
    root: Fr,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Register,
    /// Erases the member at this index, modulo the number of members.
    Erase {
        at: u32,
        fully: bool,
    },
}

/// Model of a chain. Block 0 is empty.
pub(super) struct Chain {
    blocks: Vec<Block>,
    telling: Telling,
    made: u64,
    /// Every root that the contract ever had, on any fork.
    pub(super) roots: Vec<Fr>,
}

impl Chain {
    pub(super) fn new(telling: Telling) -> Self {
        let root = MerkleTree::new().root();
        let genesis = Block {
            hash: hash(0),
            events: Vec::new(),
            leaves: Vec::new(),
            free: Vec::new(),
            root,
        };
        Self {
            blocks: vec![genesis],
            telling,
            made: 0,
            roots: vec![root],
        }
    }

    pub(super) fn head(&self) -> BlockRef {
        let number = self.blocks.len() as u64 - 1;
        BlockRef {
            number,
            hash: self.blocks[number as usize].hash,
        }
    }

    pub(super) fn root(&self) -> Fr {
        self.tip().root
    }

    pub(super) fn leaves(&self) -> &[Fr] {
        &self.tip().leaves
    }

    fn tip(&self) -> &Block {
        self.blocks.last().expect("there is a genesis")
    }

    /// Adds a block in which each operation is a call of its own.
    pub(super) fn mine(&mut self, ops: &[Op]) {
        self.made += 1;
        let mut block = self.tip().clone();
        block.hash = hash(self.made);
        block.events.clear();
        let place = BlockRef {
            number: self.blocks.len() as u64,
            hash: block.hash,
        };
        let mut tree = MerkleTree::new();
        let all: Vec<_> = (0..).zip(block.leaves.iter().copied()).collect();
        tree.set_many(&all).unwrap();
        for (transaction, op) in ops.iter().enumerate() {
            let kinds = self.call(&mut block, &mut tree, *op);
            block
                .events
                .extend(kinds.into_iter().map(|kind| ContractEvent {
                    block: place,
                    transaction: transaction as u64,
                    kind,
                }));
        }
        block.root = tree.root();
        self.blocks.push(block);
    }

    fn call(&mut self, block: &mut Block, tree: &mut MerkleTree, op: Op) -> Vec<EventKind> {
        let mut kinds = Vec::new();
        let tells_roots = self.telling != Telling::Little;
        match op {
            Op::Register => {
                self.made += 1;
                let (commitment, limit) = (Fr::from(self.made), 20);
                let at = block.free.pop().unwrap_or(block.leaves.len() as u32);
                block
                    .leaves
                    .resize(block.leaves.len().max(at as usize + 1), Fr::from(0));
                block.leaves[at as usize] = rate_commitment(commitment, limit);
                tree.set(at, block.leaves[at as usize]).unwrap();
                kinds.push(EventKind::Registered {
                    commitment,
                    limit,
                    index: MemberIndex::new(at).unwrap(),
                });
                if tells_roots {
                    kinds.push(EventKind::Root(tree.root()));
                }
            }
            Op::Erase { at, fully } => {
                let held: Vec<u32> = (0..block.leaves.len() as u32)
                    .filter(|at| !block.free.contains(at))
                    .collect();
                if held.is_empty() {
                    return kinds;
                }
                let at = held[at as usize % held.len()];
                let index = MemberIndex::new(at).unwrap();
                block.free.push(at);
                kinds.push(EventKind::Erased { index });
                if fully {
                    block.leaves[at as usize] = Fr::from(0);
                    tree.set(at, Fr::from(0)).unwrap();
                    if self.telling == Telling::All {
                        kinds.push(EventKind::Cleared { index });
                    }
                    if tells_roots {
                        kinds.push(EventKind::Root(tree.root()));
                    }
                }
            }
        }
        self.roots.push(tree.root());
        kinds
    }

    /// Drops the newest blocks.
    pub(super) fn drop_blocks(&mut self, depth: usize) {
        self.blocks
            .truncate((self.blocks.len() - depth.min(self.blocks.len() - 1)).max(1));
    }

    /// Returns an honest endpoint's answer; `None` for a block that it does not have.
    pub(super) fn answer(&self, ask: &Ask) -> Option<Answer> {
        let at = |block: &BlockRef| {
            let found = self.blocks.get(block.number as usize);
            found.filter(|found| found.hash == block.hash)
        };
        Some(match ask {
            Ask::Head => {
                let block = self.head();
                let below = self.blocks.get((block.number as usize).wrapping_sub(1));
                let parent = below.map_or(B256::ZERO, |block| block.hash);
                Answer::Head(Head { block, parent })
            }
            Ask::Header { number } => Answer::Header(BlockRef {
                number: *number,
                hash: self.blocks.get(*number as usize)?.hash,
            }),
            Ask::Events { from, to, roots } => {
                let end = (*to as usize + 1).min(self.blocks.len());
                let blocks = self.blocks.get(*from as usize..end).unwrap_or_default();
                let events = blocks.iter();
                let events = events.flat_map(|block| block.events.iter().copied());
                let wanted =
                    |event: &ContractEvent| *roots || !matches!(event.kind, EventKind::Root(_));
                Answer::Events(events.filter(wanted).collect())
            }
            Ask::Root { at: block } => Answer::Root(at(block)?.root),
            Ask::Count { at: block } => Answer::Count(at(block)?.leaves.len() as u32),
            Ask::Leaves {
                at: block,
                first,
                last,
            } => Answer::Leaves(at(block)?.leaves[*first as usize..=*last as usize].to_vec()),
            Ask::RootOf { .. }
            | Ask::Recent { .. }
            | Ask::Membership { .. }
            | Ask::Path { .. }
            | Ask::Time { .. } => {
                panic!("{ask:?} is of light mode")
            }
        })
    }
}

fn hash(number: u64) -> B256 {
    let mut hash = [0x11; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    B256::from(hash)
}
