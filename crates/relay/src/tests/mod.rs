//! The relay as seen by a driver: one relay fed by hand ([`solo`]) and networks in virtual time ([`net`]).
//! Most messages carry a well-formed proof that no prover made ([`forge`]), because the relay never looks
//! at the zero-knowledge proof itself; where it matters the proofs are real ([`real`]).

mod awaiting_root;
mod blame;
mod brought;
mod crowd;
mod determinism;
mod fairness;
mod flood;
mod flow;
mod forge;
mod net;
mod order;
mod own_ids;
mod placement;
mod publish;
mod race;
mod real;
mod solo;
mod spam;
mod spam_blame;
mod spammer;
mod validation;
