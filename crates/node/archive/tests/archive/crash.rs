//! A writing process is killed at random moments; the messages that it acknowledged must be there.
//!
//! `UNDERTONE_CRASH_ROUNDS` sets how often (default 3), `UNDERTONE_CRASH_SEED` replays a run.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_archive::{Archive, ArchiveOptions};
use undertone_message::MessageHash;
use undertone_services::history::{HistoryQuery, PageDirection, StoredMessage};

use crate::fixture::{HOUR_NS, Place, everything, message};

/// Address of the archive that the killed process writes to.
const URL: &str = "UNDERTONE_CRASH_URL";

/// Number of the round that the killed process is in.
const ROUND: &str = "UNDERTONE_CRASH_ROUND";

/// Messages per batch. With fewer, a process would mostly wait for the disk, when a kill does no harm.
const BATCH: u64 = 250;

/// Pages that a client reads between two kills.
const PAGES: usize = 100;

/// Batch of a round. Some batches reach into the next slot, and all slots are made anew.
fn batch(round: u64, number: u64) -> Vec<StoredMessage> {
    let one = |n: u64| {
        let timestamp_ns = (number * BATCH + n) as i64 * (HOUR_NS / 2000);
        message(
            timestamp_ns,
            &format!("{round} {number} {n} {}", "x".repeat(200)),
        )
    };
    (0..BATCH).map(one).collect()
}

/// The process that is killed. Run as an ordinary test, it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writer_process() {
    let Ok(url) = std::env::var(URL) else {
        return;
    };
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    let url = url.parse().unwrap();
    let options = ArchiveOptions::default().with_retention("time:1d".parse().unwrap());
    let archive = Archive::open(&url, options).await.unwrap();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let archive = archive.clone();
            tokio::spawn(async move {
                for number in (0..2000).map(|n| n * 4 + writer) {
                    archive.insert(batch(round, number)).await.unwrap();
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "\nacknowledged {number}").unwrap();
                    out.flush().unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Client that reads everything page by page, over as many rounds as that takes.
struct LongPaging {
    query: HistoryQuery,
    seen: BTreeSet<MessageHash>,
}

impl LongPaging {
    fn new(direction: PageDirection) -> Self {
        let query = HistoryQuery {
            direction,
            ..everything()
        };
        Self {
            query,
            seen: BTreeSet::new(),
        }
    }

    /// Reads some more pages, and restarts in the other direction after the last one. Returns the messages served by
    /// the paging if it has ended.
    async fn go_on(&mut self, archive: &Archive, pages: usize) -> Option<BTreeSet<MessageHash>> {
        for _ in 0..pages {
            let page = archive.query(self.query.clone()).await.unwrap();
            for entry in &page.entries {
                assert!(self.seen.insert(entry.hash), "{} came twice", entry.hash);
            }
            self.query.cursor = page.next;
            if page.next.is_none() {
                let next = match self.query.direction {
                    PageDirection::Forward => PageDirection::Backward,
                    PageDirection::Backward => PageDirection::Forward,
                };
                return Some(std::mem::replace(self, Self::new(next)).seen);
            }
        }
        None
    }
}

/// Kills writers, and looks for what they acknowledged.
async fn campaign(place: Place, url: String) {
    let from_env = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let rounds = from_env("UNDERTONE_CRASH_ROUNDS").unwrap_or(3);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let seed = from_env("UNDERTONE_CRASH_SEED").unwrap_or(now.as_secs());
    println!("replay: UNDERTONE_CRASH_SEED={seed} UNDERTONE_CRASH_ROUNDS={rounds}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut acknowledged = Vec::new();
    let mut paging = LongPaging::new(PageDirection::Forward);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::writer_process", "--exact", "--nocapture"])
            .env(URL, &url)
            .env(ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            let number = |line: String| line.strip_prefix("acknowledged ")?.parse::<u64>().ok();
            out.lines()
                .map_while(Result::ok)
                .filter_map(number)
                .collect::<Vec<_>>()
        });
        // The kill may also hit the opening of the archive or the creation of slots.
        let wait_ms = u64::from(rng.next_u32() % 700);
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let numbers = reader.join().unwrap();
        println!(
            "round {round}: killed after {wait_ms} ms, {} batches",
            numbers.len()
        );
        acknowledged.extend(numbers.into_iter().map(|number| (round, number)));
        let archive = place.open("time:1d").await;
        let stats = archive.stats().await.unwrap();
        let listed = archive.hashes(i64::MIN, i64::MAX, usize::MAX >> 1);
        let listed = listed.await.unwrap();
        let there: BTreeSet<_> = listed.iter().map(|(_, hash)| *hash).collect();
        for (round, number) in &acknowledged {
            let all = batch(*round, *number)
                .iter()
                .all(|m| there.contains(&m.hash));
            assert!(all, "seed {seed}: lost of {round}/{number}");
        }
        assert_eq!(
            listed.len() as u64,
            stats.messages,
            "seed {seed}: messages are counted right"
        );
        // Continues where it stopped before the kill.
        paging.go_on(&archive, PAGES).await;
        if round + 1 == rounds {
            for direction in [PageDirection::Forward, PageDirection::Backward] {
                let served = LongPaging::new(direction).go_on(&archive, usize::MAX).await;
                assert_eq!(served, Some(there.clone()), "seed {seed}: {direction:?}");
            }
            println!("{} messages, each served once", there.len());
        }
    }
    assert!(
        !acknowledged.is_empty(),
        "seed {seed}: nothing was acknowledged in any round"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_what_it_acknowledged() {
    let place = Place::sqlite_on_disk();
    let url = place.url.to_string();
    campaign(place, url).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_keeps_what_it_acknowledged() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let server = crate::fixture::server().unwrap();
    let url = server.url(place.database.as_deref().unwrap());
    campaign(place, url).await;
}
