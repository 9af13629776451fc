//! What has to be in the contract at the least, whatever was done: apart from the model, which knows
//! how the contract works, this knows only what leaving honestly gives, and when.

use crate::model::Op;
use crate::world::{ACTIVE_S, GRACE_S, PRICE, reward_of};

/// A deposit that was made.
#[derive(Debug)]
struct Deposit {
    name: u32,
    holder: usize,
    amount: u64,
    /// When the holder could leave at the earliest.
    leaves_s: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The holder is a member.
    Held,
    /// It may be withdrawn.
    Freed,
    /// It was withdrawn.
    Gone,
    /// The member was slashed before it was withdrawn.
    Slashed,
}

/// All deposits that were ever made.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Vec<Deposit>);

impl Ledger {
    /// Takes note of something that was done.
    pub(crate) fn note(&mut self, op: &Op, now_s: u64) {
        match op {
            Op::Register {
                who,
                name,
                limit,
                erase,
            } => {
                erase.iter().for_each(|name| self.free(*name, now_s));
                self.0.push(Deposit {
                    name: *name,
                    holder: *who,
                    amount: u64::from(*limit) * PRICE,
                    leaves_s: now_s + u64::from(ACTIVE_S),
                    state: State::Held,
                });
            }
            Op::Extend { name, .. } => {
                if let Some(deposit) = self.last(*name) {
                    deposit.leaves_s += u64::from(GRACE_S + ACTIVE_S);
                }
            }
            Op::Erase { names, .. } => names.iter().for_each(|name| self.free(*name, now_s)),
            Op::Withdraw { who } => {
                for deposit in &mut self.0 {
                    if deposit.holder == *who && deposit.state == State::Freed {
                        deposit.state = State::Gone;
                    }
                }
            }
            Op::Slash { name, .. } => {
                let deposit = self.last(*name);
                if let Some(deposit) = deposit.filter(|it| it.state != State::Gone) {
                    deposit.state = State::Slashed;
                }
            }
            Op::Commit { .. } | Op::Claim { .. } | Op::Wait { .. } | Op::Mine { .. } => {}
        }
    }

    /// What nobody can have been paid yet. Of a slashed member's deposit nothing is paid before its
    /// holder could have left, and never all of it.
    pub(crate) fn locked(&self, now_s: u64) -> u64 {
        let locked = |deposit: &Deposit| match deposit.state {
            State::Held => deposit.amount,
            State::Slashed if now_s < deposit.leaves_s => deposit.amount,
            State::Slashed => deposit.amount - reward_of(deposit.amount),
            State::Freed | State::Gone => 0,
        };
        self.0.iter().map(locked).sum()
    }

    fn free(&mut self, name: u32, now_s: u64) {
        let deposit = self.last(name).expect("only members are erased");
        assert!(deposit.leaves_s <= now_s, "{name} left too early");
        deposit.state = State::Freed;
    }

    /// The deposit made last for a member.
    fn last(&mut self, name: u32) -> Option<&mut Deposit> {
        self.0.iter_mut().rev().find(|it| it.name == name)
    }
}
