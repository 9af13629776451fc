//! The counter under `kill -9`: no id is issued twice, whenever the process is killed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::UNIX_EPOCH;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_rln::{CounterError, Epoch, MessageIdCounter, WallClock};

/// Environment variable with the counter file's path, set for the child only.
const PATH: &str = "UNDERTONE_COUNTER_PATH";
/// Environment variable with a seed, set by hand to replay a failure.
const SEED: &str = "UNDERTONE_KILL_SEED";
const LIMIT: u32 = 200;
const ROUNDS: u32 = 60;

/// Child process that `ids_survive_kill_9` starts and kills; not a test of its own.
#[test]
#[ignore = "child process of ids_survive_kill_9, a test of cargo xtask test --only unit"]
fn child_counts_until_killed() {
    let path = std::env::var_os(PATH).expect("started by ids_survive_kill_9");
    let mut counter = MessageIdCounter::open(path, LIMIT).unwrap();
    let mut out = std::io::stdout().lock();
    let mut epoch = Epoch(1);
    loop {
        match counter.next(epoch, &WallClock::stopped_in(epoch)) {
            Ok(id) => writeln!(out, "id {} {id} end", epoch.0).unwrap(),
            Err(CounterError::Exhausted { .. } | CounterError::EpochClosed { .. }) => {
                epoch.0 += 1;
            }
            Err(error) => panic!("{error}"),
        }
        out.flush().unwrap();
    }
}

#[test]
fn ids_survive_kill_9() {
    let seed = match std::env::var(SEED) {
        Ok(seed) => seed.parse().expect("the seed is a number"),
        Err(_) => UNIX_EPOCH.elapsed().map_or(0, |age| age.as_nanos() as u64),
    };
    println!("replay with {SEED}={seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter");
    let mut given = BTreeSet::new();
    for round in 0..ROUNDS {
        // The child goes on while the parent decides, so the kill may hit any instruction after this
        // id; in a few rounds the child dies during start-up instead.
        let ids_before_kill = rng.next_u32() % 40;
        let mut child = start(&path);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut ids = Vec::new();
        while ids.len() < ids_before_kill as usize {
            let line = lines
                .next()
                .expect("the child counts until it is killed")
                .unwrap();
            ids.extend(parse(&line));
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        // Ids printed before the kill count as given out. A line cut short by the kill lacks its end
        // and does not parse.
        ids.extend(lines.map_while(Result::ok).filter_map(|line| parse(&line)));
        for id in ids {
            assert!(
                given.insert(id),
                "{id:?} given out again in round {round}; {SEED}={seed}"
            );
        }
    }
    assert!(
        given.len() > ROUNDS as usize,
        "only {} ids; {SEED}={seed}",
        given.len()
    );
}

#[test]
fn another_process_is_locked_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter");
    let mut child = start(&path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| parse(&line));
    assert_eq!(first, Some((1, 0)));
    let error = MessageIdCounter::open(&path, LIMIT).unwrap_err();
    let named = matches!(&error, CounterError::Locked(p) if p.starts_with(folder.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(named, "{error}");
    MessageIdCounter::open(&path, LIMIT).expect("the lock ends with the process");
}

fn start(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "counter_kill::child_counts_until_killed",
            "--nocapture",
        ])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Parses `(epoch, id)` from a line that the child printed completely.
fn parse(line: &str) -> Option<(u64, u32)> {
    let (epoch, id) = line
        .rsplit_once("id ")?
        .1
        .strip_suffix(" end")?
        .split_once(' ')?;
    Some((epoch.parse().ok()?, id.parse().ok()?))
}
