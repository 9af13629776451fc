//! A node that sends is killed at random moments: each message that it accepted has an end, what is called propagated
//! has arrived, and no message id of the rate limit is used for two messages.
//!
//! `cargo xtask campaign --only send-kill` kills more often, with both kinds of archives behind the store.
//! `UNDERTONE_SEND_KILLS` sets how often (default 20), `UNDERTONE_SEND_SEED` replays the moments.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use undertone_node::assemble::assemble;
use undertone_node::services::{SendId, SendStep};

use crate::assembled::sending::{Heard, assert_no_spam, send};
use crate::support::postgres_server::PostgresServer;
use crate::support::{HANG, Place, config};

/// Peer of the killed node; also tells the process that it is the one to be killed.
const PEER: &str = "UNDERTONE_SEND_PEER";

/// Number of the round that the killed process is in.
const ROUND: &str = "UNDERTONE_SEND_ROUND";

/// Folder of the killed node.
const FOLDER: &str = "UNDERTONE_SEND_FOLDER";

/// Registry of the members.
const REGISTRY: &str = "UNDERTONE_SEND_REGISTRY";

/// Flags of all nodes: 100 messages in 20 seconds.
const FLAGS: [(&str, &str); 2] = [("shards", "0"), ("rln-epoch-s", "20")];

/// The process that is killed; as a test of its own it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sending_process() {
    let Ok(peer) = std::env::var(PEER) else {
        return;
    };
    let round = std::env::var(ROUND).unwrap();
    let path = |name| std::path::PathBuf::from(std::env::var_os(name).unwrap());
    let config = config(&path(FOLDER), &path(REGISTRY), &[peer], &FLAGS);
    let node = assemble(&config).await.unwrap();
    for number in 0..1_000 {
        let text = format!("{round} {number}");
        let id = send(&node, &text).await;
        let mut out = std::io::stdout().lock();
        writeln!(out, "\naccepted {} {text}", id.0).unwrap();
        out.flush().unwrap();
        drop(out);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_accepted_message_has_an_end_though_its_node_is_killed() {
    kill_a_sender(&[("store", "true")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL and minutes; cargo xtask campaign --only send-kill"]
async fn every_accepted_message_has_an_end_with_a_store_on_postgres() {
    let Some(server) = PostgresServer::start(true) else {
        return;
    };
    let url = server.create_database("store");
    kill_a_sender(&[("store", "true"), ("store-message-db-url", &url)]).await;
}

/// Kills a node that sends to a store of these flags, and looks what became of each message.
async fn kill_a_sender(store_flags: &[(&str, &str)]) {
    let from_env = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let kills: u64 = from_env("UNDERTONE_SEND_KILLS").unwrap_or(20);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seed = from_env("UNDERTONE_SEND_SEED").unwrap_or(since.unwrap().as_secs());
    println!("replay: UNDERTONE_SEND_SEED={seed} UNDERTONE_SEND_KILLS={kills}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);

    let place = Place::new();
    place.join(b"sender");
    let other = Place::with_registry_of(&place);
    let flags = [&FLAGS[..], store_flags].concat();
    let store = assemble(&other.config(&[], &flags)).await.unwrap();
    let heard = Heard::of(&store);
    let peer = store.node.addresses[0].to_string();

    let mut accepted = BTreeMap::new();
    for round in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "assembled::sending_kill::sending_process",
                "--exact",
                "--nocapture",
            ])
            .env(PEER, &peer)
            .env(ROUND, round.to_string())
            .env(FOLDER, place.folder.path())
            .env(REGISTRY, place.path("registry.sqlite"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        // Most kills hit a node that sends, some one that starts.
        let mut first = None;
        if !rng.next_u32().is_multiple_of(5) {
            (out, first) = tokio::task::spawn_blocking(move || {
                let mut line = String::new();
                while out.read_line(&mut line).unwrap() > 0 && !line.starts_with("accepted") {
                    line.clear();
                }
                (out, parsed(&line))
            })
            .await
            .unwrap();
        }
        let wait_ms = u64::from(rng.next_u32() % 1_200);
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let before = accepted.len();
        accepted.extend(first);
        let lines = out.lines().map_while(Result::ok);
        accepted.extend(lines.filter_map(|line| parsed(&line)));
        let more = accepted.len() - before;
        println!("round {round}: killed {wait_ms} ms after, {more} accepted");
    }
    assert!(!accepted.is_empty(), "seed {seed}: nothing was accepted");

    let node = assemble(&place.config(&[peer], &FLAGS)).await.unwrap();
    let sender = node.services.handle.sender();
    let empties = async {
        while sender.waiting().await.unwrap() > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    // A message whose node was killed while it left, and that no store has, is looked for for ten minutes.
    let emptied = tokio::time::timeout(8 * HANG, empties).await;
    assert!(
        emptied.is_ok(),
        "seed {seed}: {:?} wait",
        sender.waiting().await
    );
    let reports = sender.reports(None).await.unwrap();
    let arrived: BTreeSet<String> = heard.texts().into_iter().collect();
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for (id, text) in &accepted {
        let of_id = reports.iter().filter(|report| report.id == *id);
        let steps: Vec<SendStep> = of_id.map(|report| report.step).collect();
        let end = steps.last().filter(|step| step.is_end());
        let end = end.unwrap_or_else(|| panic!("seed {seed}: {text} has no end: {steps:?}"));
        *ends.entry(format!("{end:?}")).or_default() += 1;
        if steps.contains(&SendStep::Propagated) {
            assert!(
                arrived.contains(text),
                "seed {seed}: {text} did not arrive: {steps:?}"
            );
        }
        let is_failed = matches!(end, SendStep::Failed(_));
        assert!(!is_failed || end.reason().is_some());
    }
    println!("{} accepted, {kills} kills: {ends:?}", accepted.len());
    let texts = heard.texts();
    assert_eq!(
        texts.len(),
        arrived.len(),
        "seed {seed}: each is delivered once"
    );
    assert_no_spam(&store).await;
    for node in [node, store] {
        node.stop().await;
    }
}

fn parsed(line: &str) -> Option<(SendId, String)> {
    let (id, text) = line.trim_end().strip_prefix("accepted ")?.split_once(' ')?;
    Some((SendId(id.parse().ok()?), text.to_owned()))
}
