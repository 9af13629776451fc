//! The relay as seen by a driver: one relay fed by hand ([`solo`]) and networks in virtual time ([`net`]).
//! Most messages carry a well-formed proof that no prover made ([`fake_proof`]), because the relay never looks
//! at the zero-knowledge proof itself; where it matters the proofs are real ([`real`]).

mod awaiting_root;
mod blame;
mod determinism;
mod fairness;
mod fake_proof;
mod flood;
mod flow;
mod history;
mod many_members;
mod net;
mod order;
mod own_ids;
mod own_proof;
mod placement;
mod publish;
mod race;
mod real;
mod republish;
mod solo;
mod spam;
mod spam_blame;
mod spammer;
mod validation;
