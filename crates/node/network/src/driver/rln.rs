//! Rate limiting: verification and generation of proofs on dedicated threads.

mod event;
mod proof_thread;
mod service;
mod source;

pub(crate) use event::RlnEvent;
#[cfg(test)]
pub(in crate::driver) use proof_thread::{ProveJob, SkipTaken, prove};
pub(crate) use service::RlnService;
pub use source::{MembershipProbe, MembershipState, ProofSource};
