//! `undertone rln bench --memory-of`: a child process that prints its own memory.

use std::process::Command;

use clap::ValueEnum;
use undertone_fleet::measure::memory::{Memory, measure, resident_bytes, with_rln};

use super::Failure;

/// Contents of a child process's memory when the child measures itself.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Child {
    /// RLN in use: key, tables, a member, a verifier and a tree of 10,000 members.
    With,
    /// The program alone, without RLN.
    Without,
}

/// Measures both children; returns `None` if the operating system does not report resident memory.
pub(super) fn measure_both() -> Result<Option<Memory>, Failure> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|error| Failure::new(format!("cannot start a child: {error}")))?;
    let child = |of| {
        let mut command = Command::new(&program);
        command.args(["rln", "bench", "--memory-of", of]);
        command
    };
    measure(child("without"), child("with")).map_err(|error| Failure::new(error.to_string()))
}

impl Child {
    /// Prints the resident memory in bytes, or nothing if the operating system does not report it.
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Without => print(),
            Self::With => with_rln(print).map_err(|error| Failure::new(error.to_string()))?,
        }
        Ok(())
    }
}

fn print() {
    if let Some(bytes) = resident_bytes() {
        println!("{bytes}");
    }
}
