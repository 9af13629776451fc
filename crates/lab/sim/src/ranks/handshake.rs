//! Agreement of all ranks, before a run, that they run the same simulation.

use sha2::{Digest, Sha256};
use undertone_wire::put_varint;

use crate::ranks::reader::{MessageReader, Unreadable};
use crate::ranks::{RankError, Ranks, messages};
use crate::run::options::RunOptions;
use crate::scenario::Scenario;

/// Maximum number of threads of a rank.
const THREADS_MAX: usize = 64;

/// Compares version, scenario and seed of all ranks; returns the number of threads of each.
pub(crate) fn reach(
    ranks: &mut dyn Ranks,
    scenario: &Scenario,
    options: RunOptions,
) -> Result<Vec<usize>, RankError> {
    let mut message = Vec::new();
    let hash = Sha256::digest(format!("{scenario:?}"));
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    for part in [version, &hash, &options.seed.to_le_bytes()] {
        put_varint(&mut message, part.len() as u64);
        message.extend_from_slice(part);
    }
    put_varint(&mut message, options.threads.clamp(1, THREADS_MAX) as u64);
    let count = ranks.count();
    let received = messages::exchange(ranks, vec![message; count])?;
    let mut threads = Vec::new();
    let mut first = None;
    for (rank, message) in received.iter().enumerate() {
        let malformed = |Unreadable(what)| RankError::Malformed { rank, what };
        let (said, count) = read(message).map_err(malformed)?;
        let expected = *first.get_or_insert(said);
        for ((said, expected), what) in said.into_iter().zip(expected).zip(WHAT) {
            if said != expected {
                return Err(RankError::Differs { rank, what });
            }
        }
        threads.push(count);
    }
    Ok(threads)
}

/// Subjects of the handshake, in the order of the message.
const WHAT: [&str; 3] = ["version of the program", "scenario", "seed"];

fn read(message: &[u8]) -> Result<([&[u8]; 3], usize), Unreadable> {
    let reader = &mut MessageReader::new(message);
    let mut said = [&[][..]; 3];
    for (part, what) in said.iter_mut().zip(WHAT) {
        *part = reader.bytes(what)?;
    }
    match reader.short("number of threads")? as usize {
        count @ 1..=THREADS_MAX => Ok((said, count)),
        _ => Err(Unreadable("number of threads")),
    }
}
