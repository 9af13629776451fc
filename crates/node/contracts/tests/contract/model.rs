//! The contract in plain Rust: what each call does, and to whom the tokens belong.

use std::collections::BTreeMap;

use undertone_rln::{Fr, MerkleTree, rate_commitment};

use crate::world::{ACTIVE_S, GRACE_S, PRICE, WEALTH, id, reward_of};

/// Roots that are remembered.
const HISTORY: usize = 5;

/// One thing that somebody does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    Register {
        who: usize,
        name: u32,
        limit: u32,
        erase: Vec<u32>,
    },
    Extend {
        who: usize,
        name: u32,
    },
    Erase {
        who: usize,
        names: Vec<u32>,
        clear: bool,
    },
    Withdraw {
        who: usize,
    },
    Commit {
        who: usize,
        name: u32,
        receiver: usize,
    },
    Slash {
        who: usize,
        name: u32,
        receiver: usize,
    },
    Claim {
        who: usize,
        name: u32,
    },
    Wait {
        seconds: u64,
    },
    Mine {
        blocks: u64,
    },
}

/// Why an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum No {
    Duplicate,
    Slashed,
    RateLimit,
    Total,
    NotAMember,
    NotInGrace,
    NotTheHolder,
    Active,
    NothingFreed,
    TooEarly,
    NotCommitted,
    Expired,
    Unrewarded,
}

#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) holder: usize,
    pub(crate) limit: u32,
    pub(crate) index: u32,
    pub(crate) grace_starts_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reward {
    pub(crate) receiver: usize,
    pub(crate) amount: u64,
    pub(crate) payable_from_s: u64,
}

/// A deposit that its holder may withdraw. `of` is forgotten when the member begins anew.
#[derive(Debug, Clone)]
struct Freed {
    of: Option<u32>,
    holder: usize,
    amount: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) now_s: u64,
    pub(crate) block: u64,
    pub(crate) held: BTreeMap<u32, Held>,
    /// Members that were erased and not registered again, as they were last.
    erased: BTreeMap<u32, Held>,
    pub(crate) rewards: BTreeMap<u32, Reward>,
    pub(crate) burned: u64,
    pub(crate) slashed: Vec<u32>,
    freed: Vec<Freed>,
    last_erasure: [u64; 4],
    pub(crate) wallets: [u64; 4],
    pub(crate) free: Vec<u32>,
    /// Whose leaf is at each index.
    pub(crate) leaves: Vec<Option<(u32, u32)>>,
    tree: MerkleTree,
    pub(crate) recent: Vec<Fr>,
    commitments: BTreeMap<(usize, u32, usize), u64>,
    max_total: u64,
}

impl Model {
    pub(crate) fn new(now_s: u64, block: u64) -> Self {
        Self {
            now_s,
            block,
            held: BTreeMap::new(),
            erased: BTreeMap::new(),
            rewards: BTreeMap::new(),
            burned: 0,
            slashed: Vec::new(),
            freed: Vec::new(),
            last_erasure: [0; 4],
            wallets: [WEALTH; 4],
            free: Vec::new(),
            leaves: Vec::new(),
            tree: MerkleTree::new(),
            recent: vec![Fr::from(0_u64); HISTORY],
            commitments: BTreeMap::new(),
            max_total: 1_000,
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.held.values().map(|held| u64::from(held.limit)).sum()
    }

    pub(crate) fn credit(&self, who: usize) -> u64 {
        let own = self.freed.iter().filter(|freed| freed.holder == who);
        own.map(|freed| freed.amount).sum()
    }

    pub(crate) fn root(&self) -> Fr {
        self.tree.root()
    }

    /// What is left of the tokens of all.
    pub(crate) fn deposits(&self) -> u64 {
        4 * WEALTH - self.wallets.iter().sum::<u64>()
    }

    /// Does it, in a block of its own; what fails changes nothing but the block and the time.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<(), No> {
        match op {
            Op::Wait { seconds } => {
                self.block += 1;
                self.now_s += seconds;
                return Ok(());
            }
            Op::Mine { blocks } => {
                self.block += blocks;
                self.now_s += blocks;
                return Ok(());
            }
            _ => {
                self.block += 1;
                self.now_s += 1;
            }
        }
        let mut after = self.clone();
        after.transact(op)?;
        *self = after;
        Ok(())
    }

    fn transact(&mut self, op: &Op) -> Result<(), No> {
        match op {
            Op::Register {
                who,
                name,
                limit,
                erase,
            } => self.register(*who, *name, *limit, erase),
            Op::Extend { who, name } => self.extend(*who, *name),
            Op::Erase { who, names, clear } => {
                for name in names {
                    let index = self.erase(*who, *name)?;
                    if *clear {
                        self.put(index, None);
                    }
                }
                if *clear && !names.is_empty() {
                    self.remember();
                }
                Ok(())
            }
            Op::Withdraw { who } => self.withdraw(*who),
            Op::Commit {
                who,
                name,
                receiver,
            } => {
                self.commitments
                    .insert((*who, *name, *receiver), self.block);
                Ok(())
            }
            Op::Slash {
                who,
                name,
                receiver,
            } => self.slash(*who, *name, *receiver),
            Op::Claim { name, .. } => self.claim(*name),
            Op::Wait { .. } | Op::Mine { .. } => Ok(()),
        }
    }

    fn register(&mut self, who: usize, name: u32, limit: u32, erase: &[u32]) -> Result<(), No> {
        if self.held.contains_key(&name) {
            return Err(No::Duplicate);
        }
        if self.slashed.contains(&name) {
            return Err(No::Slashed);
        }
        for name in erase {
            self.erase(who, *name)?;
        }
        if !(20..=600).contains(&limit) {
            return Err(No::RateLimit);
        }
        if self.total() + u64::from(limit) > self.max_total {
            return Err(No::Total);
        }
        let index = self.free.pop().unwrap_or(self.leaves.len() as u32);
        let held = Held {
            holder: who,
            limit,
            index,
            grace_starts_s: self.now_s + u64::from(ACTIVE_S),
        };
        self.held.insert(name, held);
        self.wallets[who] -= u64::from(limit) * PRICE;
        for at in 0..self.leaves.len() as u32 {
            if self.leaves[at as usize].is_some_and(|(of, _)| of == name) {
                self.put(at, None);
            }
        }
        self.put(index, Some((name, limit)));
        self.erased.remove(&name);
        for freed in self.freed.iter_mut().filter(|freed| freed.of == Some(name)) {
            freed.of = None;
        }
        self.remember();
        Ok(())
    }

    fn extend(&mut self, who: usize, name: u32) -> Result<(), No> {
        let now_s = self.now_s;
        let held = self.held.get_mut(&name).ok_or(No::NotInGrace)?;
        let grace = held.grace_starts_s..held.grace_starts_s + u64::from(GRACE_S);
        if !grace.contains(&now_s) {
            return Err(No::NotInGrace);
        }
        if held.holder != who {
            return Err(No::NotTheHolder);
        }
        held.grace_starts_s += u64::from(GRACE_S + ACTIVE_S);
        Ok(())
    }

    fn erase(&mut self, who: usize, name: u32) -> Result<u32, No> {
        let held = self.held.get(&name).ok_or(No::NotAMember)?.clone();
        if self.now_s < held.grace_starts_s {
            return Err(No::Active);
        }
        if self.now_s < held.grace_starts_s + u64::from(GRACE_S) && held.holder != who {
            return Err(No::NotTheHolder);
        }
        self.held.remove(&name);
        self.erased.insert(name, held.clone());
        self.freed.push(Freed {
            of: Some(name),
            holder: held.holder,
            amount: u64::from(held.limit) * PRICE,
        });
        self.last_erasure[held.holder] = self.block;
        self.free.push(held.index);
        Ok(held.index)
    }

    fn withdraw(&mut self, who: usize) -> Result<(), No> {
        let amount = self.credit(who);
        if amount == 0 {
            return Err(No::NothingFreed);
        }
        if self.block <= self.last_erasure[who] {
            return Err(No::TooEarly);
        }
        self.freed.retain(|freed| freed.holder != who);
        self.wallets[who] += amount;
        Ok(())
    }

    fn slash(&mut self, who: usize, name: u32, receiver: usize) -> Result<(), No> {
        let key = (who, name, receiver);
        let at = *self.commitments.get(&key).ok_or(No::NotCommitted)?;
        if self.block < at + 1 {
            return Err(No::TooEarly);
        }
        if self.block > at + 256 {
            return Err(No::Expired);
        }
        self.commitments.remove(&key);
        let (was, deposit) = if let Some(held) = self.held.remove(&name) {
            let deposit = u64::from(held.limit) * PRICE;
            self.free.push(held.index);
            self.put(held.index, None);
            self.remember();
            (held, deposit)
        } else if let Some(held) = self.erased.remove(&name) {
            let own = |freed: &Freed| freed.of == Some(name);
            let deposits = self.freed.iter().filter(|freed| own(freed));
            let deposit = deposits.map(|freed| freed.amount).sum();
            self.freed.retain(|freed| !own(freed));
            if self.leaves[held.index as usize] == Some((name, held.limit)) {
                self.put(held.index, None);
                self.remember();
            }
            (held, deposit)
        } else if self.slashed.contains(&name) {
            return Err(No::Slashed);
        } else {
            return Err(No::NotAMember);
        };
        self.slashed.push(name);
        let amount = reward_of(deposit);
        self.burned += deposit - amount;
        if amount > 0 {
            let reward = Reward {
                receiver,
                amount,
                payable_from_s: was.grace_starts_s,
            };
            self.rewards.insert(name, reward);
        }
        Ok(())
    }

    fn claim(&mut self, name: u32) -> Result<(), No> {
        let reward = *self.rewards.get(&name).ok_or(No::Unrewarded)?;
        if self.now_s < reward.payable_from_s {
            return Err(No::TooEarly);
        }
        self.rewards.remove(&name);
        self.wallets[reward.receiver] += reward.amount;
        Ok(())
    }

    fn put(&mut self, index: u32, member: Option<(u32, u32)>) {
        let at = index as usize;
        if at == self.leaves.len() {
            self.leaves.push(None);
        }
        self.leaves[at] = member;
        self.tree.set(index, leaf(member)).unwrap();
    }

    fn remember(&mut self) {
        self.recent.insert(0, self.tree.root());
        self.recent.truncate(HISTORY);
    }
}

/// The leaf of a member with a limit, or an empty one.
pub(crate) fn leaf(member: Option<(u32, u32)>) -> Fr {
    member.map_or(Fr::from(0_u64), |(name, limit)| {
        rate_commitment(id(name), limit)
    })
}
