//! One run on several processes (ranks) of MPI: `mpirun -n 4 undertone sim scale-1m`.

use std::fmt;
use std::num::NonZeroUsize;
use std::panic;
use std::time::{Duration, Instant};

use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Threading, Universe};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use undertone_sim::ranks::{RankError, Ranks};

use crate::report::Summary;
use crate::run::threads;

/// Environment variables in which MPI launchers (Open MPI, MPICH, Slurm) give a process the number of ranks.
const STARTED_BY: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"];

/// Exit code with which all ranks end when one fails.
const FAILED: i32 = 1;

/// One process's view of all MPI processes of a run.
pub struct MpiRanks {
    // Before `_universe`, whose drop finalizes MPI and so must come last.
    world: SimpleCommunicator,
    _universe: Universe,
    meetings: Meetings,
}

/// Cost of a rank's exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meetings {
    /// Number of exchanges.
    pub count: u64,
    /// Bytes sent to other ranks.
    pub sent_bytes: u64,
    /// Bytes received from other ranks.
    pub received_bytes: u64,
    /// Time spent in exchanges, most of it waiting for the slowest rank.
    pub took: Duration,
}

impl MpiRanks {
    /// Joins the other ranks if an MPI launcher has started this process as one of several; otherwise returns `None`.
    /// May be called once per process. From then on, a panic on any thread ends all ranks.
    pub fn join() -> Option<Self> {
        let started = STARTED_BY.iter().find_map(|name| std::env::var(name).ok());
        let count: u32 = started?.trim().parse().ok()?;
        if count < 2 {
            return None;
        }
        // Only the thread that joins calls MPI.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        if world.size() < 2 {
            return None;
        }
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            report(info);
            eprintln!("a rank panicked: all ranks end");
            mpi_abort();
        }));
        Some(Self {
            world,
            _universe: universe,
            meetings: Meetings::default(),
        })
    }

    /// Cost of the exchanges so far.
    pub fn meetings(&self) -> Meetings {
        self.meetings
    }

    /// Describes a run on this rank in one line: the memory of its process, and its exchanges. The line ends with a
    /// line break, so that a program can print it in one piece beside those of other ranks.
    pub fn cost(&self, summary: &Summary) -> String {
        let memory = match summary.measured.peak_rss_mb {
            Some(mb) => format!("at most {mb:.0} MB of memory"),
            None => "memory is not measured here".to_owned(),
        };
        let (rank, count, meetings) = (self.rank(), self.count(), self.meetings);
        format!("rank {rank} of {count}: {memory}; {meetings}\n")
    }

    /// Returns the number of threads per rank: the number `asked` for, or else this process's processors divided by the
    /// ranks on its machine, if the launcher tells their number. A launcher may give each rank one processor only.
    pub fn threads(asked: Option<NonZeroUsize>) -> usize {
        let neighbours = std::env::var("OMPI_COMM_WORLD_LOCAL_SIZE").ok();
        let neighbours = neighbours.and_then(|count| count.parse().ok());
        let share = threads(None) / neighbours.unwrap_or(1).max(1);
        asked.map_or(share.max(1), NonZeroUsize::get)
    }

    /// Ends all ranks with an error.
    pub fn abort(&self) -> ! {
        self.world.abort(FAILED)
    }

    /// Sends each rank its part of `given`, and returns the parts received from all ranks with their lengths. `counts`
    /// are the lengths of the parts sent.
    fn all_to_all(
        &mut self,
        given: &[u8],
        counts: &[i32],
    ) -> Result<(Vec<u8>, Vec<i32>), RankError> {
        let mut received_counts = vec![0i32; counts.len()];
        self.world.all_to_all_into(counts, &mut received_counts[..]);
        let mut received = vec![0u8; total(&received_counts)?];
        let given = Partition::new(given, counts, displacements(counts));
        let places = displacements(&received_counts);
        let mut taken = PartitionMut::new(&mut received[..], &received_counts[..], places);
        self.world.all_to_all_varcount_into(&given, &mut taken);
        Ok((received, received_counts))
    }
}

fn mpi_abort() -> ! {
    SimpleCommunicator::world().abort(FAILED)
}

/// Sum of the lengths. MPI counts in 31 bits, so a larger sum is an error.
fn total(counts: &[i32]) -> Result<usize, RankError> {
    let bytes: u64 = counts
        .iter()
        .map(|count| u64::from(count.unsigned_abs()))
        .sum();
    match i32::try_from(bytes) {
        Ok(_) => Ok(bytes as usize),
        Err(_) => Err(RankError::TooLong { bytes }),
    }
}

/// Offset of each part.
fn displacements(counts: &[i32]) -> Vec<i32> {
    let mut at = 0;
    let places = counts.iter().map(|count| {
        at += count;
        at - count
    });
    places.collect()
}

impl Ranks for MpiRanks {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn count(&self) -> usize {
        self.world.size() as usize
    }

    fn exchange(&mut self, mut letters: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RankError> {
        let start = Instant::now();
        let me = self.rank();
        let own = letters.get_mut(me).map(std::mem::take).unwrap_or_default();
        let bytes: u64 = letters.iter().map(|letter| letter.len() as u64).sum();
        let too_long = |_| RankError::TooLong { bytes };
        let counts: Result<Vec<_>, _> = letters.iter().map(|l| i32::try_from(l.len())).collect();
        let counts = counts.map_err(too_long)?;
        total(&counts)?;
        let (received, counts) = self.all_to_all(&letters.concat(), &counts)?;
        let mut rest = received.as_slice();
        let mut letters: Vec<Vec<u8>> = counts
            .iter()
            .map(|count| {
                let (letter, others) = rest.split_at(count.unsigned_abs() as usize);
                rest = others;
                letter.to_vec()
            })
            .collect();
        if let Some(letter) = letters.get_mut(me) {
            *letter = own;
        }
        self.meetings.count += 1;
        self.meetings.sent_bytes += bytes;
        self.meetings.received_bytes += received.len() as u64;
        self.meetings.took += start.elapsed();
        Ok(letters)
    }
}

impl fmt::Debug for MpiRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiRanks")
            .field("rank", &self.rank())
            .field("count", &self.count())
            .field("meetings", &self.meetings)
            .finish()
    }
}

impl fmt::Display for Meetings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} exchanges, {} bytes sent, {} received, {:.3} s in them",
            self.count,
            self.sent_bytes,
            self.received_bytes,
            self.took.as_secs_f64()
        )
    }
}
