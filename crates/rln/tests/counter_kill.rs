//! The counter under `kill -9`: whatever the moment, no id is given out twice.

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

/// Set for the child only: the counter file.
const PATH: &str = "UNDERTONE_COUNTER_PATH";
/// Set by hand to replay a failure.
const SEED: &str = "UNDERTONE_KILL_SEED";
const LIMIT: u32 = 200;
const ROUNDS: u32 = 60;

/// Not a test of its own: the process that `ids_survive_kill_9` starts and kills.
#[test]
#[ignore = "runs as the child process of ids_survive_kill_9"]
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
        // The child runs on while the parent takes its decision, so the kill hits any instruction
        // after this id; a few rounds die during start-up instead.
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
        // What was printed before the kill counts as given out. A line cut short by the kill lacks
        // its end and does not parse.
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
            "child_counts_until_killed",
            "--nocapture",
        ])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// `(epoch, id)` of a line that the child printed whole.
fn parse(line: &str) -> Option<(u64, u32)> {
    let (epoch, id) = line
        .rsplit_once("id ")?
        .1
        .strip_suffix(" end")?
        .split_once(' ')?;
    Some((epoch.parse().ok()?, id.parse().ok()?))
}
