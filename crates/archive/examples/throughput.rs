//! Measures an archive: insertions while pages are read, then months of retention in fast motion.
//!
//! `cargo run --profile dist -p undertone-archive --example throughput -- --url sqlite:///tmp/measured`
//! The place has to be new. Pages are of 100 messages with content, of a random content topic from a random time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::WakuMessage;
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection, StoredMessage,
};

/// What is measured.
#[derive(Clone, Parser)]
struct Arguments {
    /// Place of a new archive.
    #[arg(long)]
    url: String,
    /// Messages before the measurement begins.
    #[arg(long, default_value_t = 1_000_000)]
    messages: u64,
    /// Seconds of inserting while reading.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Days of retention in fast motion; 0 for none.
    #[arg(long, default_value_t = 0)]
    days: u64,
    /// Messages of each of these days.
    #[arg(long, default_value_t = 20_000)]
    messages_per_day: u64,
    /// Retention time in days.
    #[arg(long, default_value_t = 30)]
    keep_days: u64,
    /// Bytes of a payload.
    #[arg(long, default_value_t = 150)]
    payload: usize,
    /// Callers that insert at the same time.
    #[arg(long, default_value_t = 4)]
    writers: u64,
    /// Messages of a batch.
    #[arg(long, default_value_t = 50)]
    batch: u64,
    /// Messages per second to insert while reading; 0 for as many as possible.
    #[arg(long, default_value_t = 0)]
    rate: u64,
    /// Number that random choices follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const SECOND_NS: i64 = 1_000_000_000;
const DAY_NS: i64 = 86_400 * SECOND_NS;
const START_NS: i64 = 20_000 * DAY_NS;
const CONTENT_TOPICS: u32 = 200;

/// Bytes of an RLN proof as Waku encodes it.
const PROOF_BYTES: usize = 288;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let url: ArchiveUrl = arguments.url.parse()?;
    let retention = format!("time:{}d", arguments.keep_days).parse()?;
    let options = ArchiveOptions::default().with_retention(retention);
    let archive = Archive::open(&url, options).await?;
    println!(
        "{}, 288 bytes of proof, {} of payload",
        archive.place(),
        arguments.payload
    );
    if arguments.messages > 0 {
        while_reading(&archive, &arguments).await?;
    }
    if arguments.days > 0 {
        months(&archive, &arguments).await?;
    }
    Ok(())
}

/// Fills the archive, then inserts and reads at the same time.
async fn while_reading(archive: &Archive, arguments: &Arguments) -> Result<(), Failure> {
    let count = arguments.messages;
    // A message each 10 ms, so that a million are three hours.
    let began = Instant::now();
    insert(archive, arguments, 0, count, None).await?;
    let rate = count as f64 / began.elapsed().as_secs_f64();
    println!("filled with {count} messages: {rate:.0} insertions per second");
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (archive, arguments, stop) = (archive.clone(), arguments.clone(), Arc::clone(&stop));
        tokio::spawn(async move { insert(&archive, &arguments, count, u64::MAX, Some(stop)).await })
    };
    let began = Instant::now();
    let span_ns = count as i64 * SECOND_NS / 100;
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut times = Vec::new();
    while began.elapsed() < Duration::from_secs(arguments.seconds) {
        times.push(read(archive, &mut rng, START_NS, span_ns).await?);
    }
    stop.store(true, Ordering::Relaxed);
    let inserted = writer.await??;
    let rate = inserted as f64 / began.elapsed().as_secs_f64();
    println!(
        "{rate:.0} insertions per second while reading; pages: {}",
        percentiles(times)
    );
    sizes(archive).await
}

/// Lets days pass.
async fn months(archive: &Archive, arguments: &Arguments) -> Result<(), Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut slowest = Duration::ZERO;
    for day in 0..arguments.days {
        let now_ns = START_NS + (day as i64 + 400) * DAY_NS;
        let count = arguments.messages_per_day;
        let step_ns = DAY_NS / count.max(1) as i64;
        let mut number = 0;
        while number < count {
            let to = (number + 500).min(count);
            let one = |n: u64| make(now_ns + n as i64 * step_ns, n, arguments.payload, &mut rng);
            archive.insert((number..to).map(one).collect()).await?;
            number = to;
        }
        let began = Instant::now();
        archive.maintain(now_ns + DAY_NS).await?;
        slowest = slowest.max(began.elapsed());
        if day == arguments.keep_days || day + 1 == arguments.days {
            let span_ns = arguments.keep_days as i64 * DAY_NS;
            let mut times = Vec::new();
            for _ in 0..300 {
                times.push(read(archive, &mut rng, now_ns - span_ns, span_ns).await?);
            }
            println!("day {}: pages: {}", day + 1, percentiles(times));
            sizes(archive).await?;
        }
    }
    println!("slowest run of the retention: {} ms", slowest.as_millis());
    Ok(())
}

/// Inserts messages with numbers from a range, by several callers; returns how many.
async fn insert(
    archive: &Archive,
    arguments: &Arguments,
    from: u64,
    to: u64,
    stop: Option<Arc<AtomicBool>>,
) -> Result<u64, Failure> {
    let mut tasks = Vec::new();
    for writer in 0..arguments.writers {
        let (archive, arguments, stop) = (archive.clone(), arguments.clone(), stop.clone());
        tasks.push(tokio::spawn(async move {
            let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed ^ from ^ (writer << 32));
            let stride = arguments.writers * arguments.batch;
            let mut first = from + writer * arguments.batch;
            let mut inserted = 0;
            let began = Instant::now();
            while first < to
                && !stop
                    .as_ref()
                    .is_some_and(|stop| stop.load(Ordering::Relaxed))
            {
                let last = (first + arguments.batch).min(to);
                let one = |n: u64| {
                    make(
                        START_NS + n as i64 * SECOND_NS / 100,
                        n,
                        arguments.payload,
                        &mut rng,
                    )
                };
                let report = archive.insert((first..last).map(one).collect()).await?;
                inserted += report.inserted as u64;
                first += stride;
                if stop.is_some() && arguments.rate > 0 {
                    let due_s = inserted as f64 * arguments.writers as f64 / arguments.rate as f64;
                    let due = Duration::from_secs_f64(due_s);
                    tokio::time::sleep(due.saturating_sub(began.elapsed())).await;
                }
            }
            Ok::<u64, Failure>(inserted)
        }));
    }
    let mut inserted = 0;
    for task in tasks {
        inserted += task.await??;
    }
    Ok(inserted)
}

fn make(timestamp_ns: i64, number: u64, payload: usize, rng: &mut ChaCha8Rng) -> StoredMessage {
    let topic = rng.next_u32() % CONTENT_TOPICS;
    let mut random = |length: usize| {
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        bytes
    };
    let mut message = WakuMessage::new(random(payload), format!("/measure/1/topic-{topic}/proto"));
    message.timestamp = Some(timestamp_ns);
    message.rate_limit_proof = Some(random(PROOF_BYTES).into());
    StoredMessage::new(format!("/waku/2/rs/1/{}", number % 8), message)
}

/// Reads a page, and returns how long that took.
async fn read(
    archive: &Archive,
    rng: &mut ChaCha8Rng,
    start_ns: i64,
    span_ns: i64,
) -> Result<Duration, Failure> {
    let topic = rng.next_u32() % CONTENT_TOPICS;
    let start_ns = start_ns + (rng.next_u64() % (span_ns.unsigned_abs() * 4 / 5).max(1)) as i64;
    let query = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria {
            content_topics: vec![format!("/measure/1/topic-{topic}/proto").into()],
            start_ns: Some(start_ns),
            ..ContentCriteria::default()
        }),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    };
    let began = Instant::now();
    let page = archive.query(query).await?;
    let took = began.elapsed();
    if page.entries.is_empty() {
        return Err("a page is empty: measure more messages".into());
    }
    Ok(took)
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| {
        let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times
            .get(index)
            .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    format!(
        "{} read, p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms",
        times.len(),
        at(50),
        at(95),
        at(99)
    )
}

async fn sizes(archive: &Archive) -> Result<(), Failure> {
    let stats = archive.stats().await?;
    let sizes = archive.sizes().await?;
    let ratio = sizes.index_bytes as f64 / sizes.data_bytes.max(1) as f64;
    println!(
        "{} messages in {} slots, {} MB on disk; indexes {:.2} of data",
        stats.messages,
        stats.slots,
        stats.bytes / 1_000_000,
        ratio
    );
    Ok(())
}
