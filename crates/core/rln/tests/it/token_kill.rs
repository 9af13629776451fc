//! Tokens under `kill -9`: no message id ever signs twice, at whichever step the sender is killed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use undertone_rln::prover::os_rng;
use undertone_rln::*;

/// Environment variable with the counter file's path, set for the child only.
const PATH: &str = "UNDERTONE_TOKEN_PATH";
/// Environment variable with the message's signal hash, set for the child only.
const SIGNAL: &str = "UNDERTONE_TOKEN_SIGNAL";
const LIMIT: u32 = 40;
const EPOCH: Epoch = Epoch(7);
/// Steps of the child, in order; the child prints each.
const STEPS: [&str; 5] = ["opened", "prepared", "reserved", "armed", "signed"];

fn identity() -> Identity {
    Identity::from_seed(b"killed")
}

fn tree() -> MerkleTree {
    let mut tree = MerkleTree::new();
    let leaf = rate_commitment(identity().commitment(), LIMIT);
    tree.set(3, leaf).unwrap();
    tree
}

/// Child process that the test below starts and kills; not a test of its own.
#[test]
#[ignore = "child process of no_id_signs_twice_across_kill_9, a test of cargo xtask test --only unit"]
fn child_signs_until_killed() {
    let path = std::env::var_os(PATH).expect("started by no_id_signs_twice_across_kill_9");
    let x: u64 = std::env::var(SIGNAL).unwrap().parse().unwrap();
    let say = |step: &str, what: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "step {step} {what} end").unwrap();
        out.flush().unwrap();
        // The parent answers each step or kills the child.
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).unwrap();
        assert_eq!(answer, "go\n");
    };
    let prover = Prover::new(Key::load().unwrap());
    let member = prover
        .member(&identity(), LIMIT, &tree().path(3).unwrap())
        .unwrap();
    let mut counter = MessageIdCounter::open(path, LIMIT).unwrap();
    say("opened", "");
    loop {
        let slot = MessageSlot {
            generation: Generation::Hashed,
            epoch: EPOCH,
            identifier: &RlnIdentifier::WAKU,
            message_id: counter
                .upcoming(EPOCH, &WallClock::stopped_in(EPOCH))
                .unwrap(),
        };
        let prepared = member.prepare(&slot, &mut os_rng().unwrap()).unwrap();
        say("prepared", "");
        let reserved = counter
            .reserve(EPOCH, &WallClock::stopped_in(EPOCH))
            .unwrap();
        say("reserved", &reserved.message_id().to_string());
        let token = prepared.arm(reserved).unwrap();
        say("armed", "");
        let proof = token.sign(Fr::from(x));
        say("signed", &hex::encode(proof.encode()));
    }
}

#[test]
fn no_id_signs_twice_across_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    let mut signed: BTreeMap<[u8; 32], (usize, [u8; 32])> = BTreeMap::new();
    let mut reserved = Vec::new();
    for (round, kill_at) in STEPS.into_iter().enumerate() {
        // Two rounds of the steps: a kill in the second round follows a proof that was sent.
        let mut deaths = if round == 0 { 1 } else { 2 };
        let mut child = start(&path, round as u64 + 1);
        let mut orders = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            let line = lines
                .next()
                .expect("the child speaks until it is killed")
                .unwrap();
            let Some((step, what)) = parse(&line) else {
                continue;
            };
            match step {
                "reserved" => reserved.push(what.parse::<u32>().unwrap()),
                "signed" => {
                    let proof = RateLimitProof::decode(&hex::decode(what).unwrap()).unwrap();
                    let earlier = signed.insert(proof.nullifier, (round, proof.share_x));
                    assert_eq!(
                        earlier, None,
                        "a nullifier of an earlier proof, round {round}"
                    );
                }
                _ => {}
            }
            deaths -= usize::from(step == kill_at);
            if deaths == 0 {
                break;
            }
            orders.write_all(b"go\n").unwrap();
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }
    assert!(signed.len() >= 5, "only {} proofs", signed.len());
    let mut distinct = reserved.clone();
    distinct.dedup();
    assert!(reserved.is_sorted() && distinct == reserved, "{reserved:?}");
}

#[test]
fn a_second_process_of_the_identity_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    let mut child = start(&path, 1);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let opened = lines
        .map_while(Result::ok)
        .any(|line| parse(&line).is_some_and(|(step, _)| step == "opened"));
    assert!(opened, "the child ended before it had opened its counter");
    let error = MessageIdCounter::open(&path, LIMIT).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(error, CounterError::Locked(_)), "{error}");
}

fn start(path: &Path, signal: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "token_kill::child_signs_until_killed",
            "--nocapture",
        ])
        .env(PATH, path)
        .env(SIGNAL, signal.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Parses step and value from a line that the child printed completely.
fn parse(line: &str) -> Option<(&str, &str)> {
    line.rsplit_once("step ")?
        .1
        .strip_suffix(" end")?
        .split_once(' ')
}
