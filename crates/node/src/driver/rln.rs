//! Rate limiting: verification and generation of proofs on dedicated threads.

mod event;
mod proof_thread;
mod service;
mod source;

pub(crate) use event::RlnEvent;
pub(crate) use service::RlnService;
pub use source::{MembershipProbe, MembershipState, ProofSource};
