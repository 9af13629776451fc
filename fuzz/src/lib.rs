//! Helpers of the targets: a reader that turns a fuzzer's bytes into numbers, choices and pieces.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use undertone_gossip::Time;
use undertone_wire::put_varint;

/// Reader of a fuzzer's input, which has zeros and empty pieces when its bytes are spent.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reader of an input from its beginning.
    pub fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> u8 {
        let [first, rest @ ..] = self.0 else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// Takes two bytes, little-endian.
    pub fn number(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Takes one of the values.
    pub fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[usize::from(self.byte()) % values.len()].clone()
    }

    /// Takes a time of up to a minute, or, seldom, of up to half an hour.
    pub fn time(&mut self) -> Duration {
        let factor = if self.byte() % 16 == 0 { 32 } else { 1 };
        Duration::from_millis(factor * u64::from(self.number()))
    }

    /// Takes a piece of as many bytes as the number before it says.
    pub fn piece(&mut self) -> &'a [u8] {
        let len = usize::from(self.number()).min(self.0.len());
        let (piece, rest) = self.0.split_at(len);
        self.0 = rest;
        piece
    }

    /// Takes a piece as bytes of its own.
    pub fn bytes(&mut self) -> Bytes {
        Bytes::copy_from_slice(self.piece())
    }

    /// Takes everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Content of a frame with its length before it, as streams carry it.
pub fn framed(content: &[u8]) -> Bytes {
    let mut frame = Vec::new();
    put_varint(&mut frame, content.len() as u64);
    frame.extend_from_slice(content);
    frame.into()
}

/// Generator of a machine under test.
pub fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

/// Lets virtual time pass until `end`: calls `tick` at each of a machine's time-outs, which have to be few and not to lie in
/// the past.
pub fn until<M>(
    machine: &mut M,
    now: &mut Time,
    end: Time,
    next: impl Fn(&M) -> Option<Time>,
    mut tick: impl FnMut(&mut M, Time),
) {
    // A machine that asks for the same moment again and again would hang its driver.
    let mut calls_at_once = 0;
    while let Some(at) = next(machine).filter(|at| *at <= end) {
        calls_at_once = if at > *now { 0 } else { calls_at_once + 1 };
        assert!(calls_at_once < 1_000, "time stands still at {now:?}");
        *now = at.max(*now);
        tick(machine, *now);
    }
    *now = end;
    tick(machine, end);
}

/// Writes an input to a file of this process, for readers that take a path.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("undertone-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    let path = folder.join(name);
    fs::write(&path, content).expect("the folder for temporary files can be written");
    path
}
