//! Memory with and without RLN, each measured in a new child process.

use std::process::Command;
use std::sync::Arc;

use clap::ValueEnum;
use serde::Serialize;
use undertone_rln::{Identity, Key, Prover, Verifier};

use super::{Failure, tree};

/// Contents of a child process's memory when the child measures itself.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Child {
    /// RLN in use: key, tables, a member, a verifier and a tree of 10,000 members.
    With,
    /// The program alone, without RLN.
    Without,
}

/// Resident memory with and without RLN, 10^6 bytes.
#[derive(Serialize)]
pub(super) struct Memory {
    pub(super) without_rln_mb: f64,
    pub(super) with_rln_mb: f64,
}

/// Measures both children; `None` where the operating system does not report resident memory.
pub(super) fn measure() -> Result<Option<Memory>, Failure> {
    let (without, with) = (ask("without")?, ask("with")?);
    Ok(without.zip(with).map(|(without, with)| Memory {
        without_rln_mb: without as f64 / 1e6,
        with_rln_mb: with as f64 / 1e6,
    }))
}

fn ask(child: &str) -> Result<Option<u64>, Failure> {
    let output = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(["rln", "bench", "--memory-of", child])
            .output()
    });
    let output = output.map_err(|error| Failure::new(format!("cannot start a child: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().parse().ok())
}

impl Child {
    /// Prints the resident memory in bytes, or nothing where the operating system does not report it.
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Without => print(),
            Self::With => {
                let failed = |error: &dyn std::error::Error| Failure::new(error.to_string());
                let tree = tree::build(&tree::leaves());
                let path = tree.path(5).expect("5 is an index of the tree");
                let key = Key::load().map_err(|error| failed(&error))?;
                let prover = Prover::new(Arc::clone(&key));
                let identity = Identity::from_seed(b"undertone rln bench");
                let member = prover.member(&identity, 20, &path);
                let member = member.map_err(|error| failed(&error))?;
                let held = (tree, prover, member, Verifier::new(&key));
                print();
                drop(held);
            }
        }
        Ok(())
    }
}

fn print() {
    if let Some(bytes) = resident_bytes() {
        println!("{bytes}");
    }
}

/// Returns this process's resident memory in bytes: the field `VmRSS` of Linux's `/proc/self/status`.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
