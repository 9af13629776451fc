//! Months of retention in accelerated time.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_archive::Archive;

use crate::load::{self, DAY_NS, MessageSource};
use crate::{Arguments, Failure, report};

/// Days before the first one, so that all other messages of the archive are too old.
const DAYS_BEFORE: i64 = 400;

/// Pages that are read each time.
const PAGES: usize = 300;

/// Simulates days; each has its messages, and the retention is applied at its end.
///
/// # Errors
///
/// If the archive fails, or if its indexes or the 95th percentile of a page exceed their bound at any reading.
pub(crate) async fn measure(archive: &Archive, arguments: &Arguments) -> Result<(), Failure> {
    let mut over: Vec<String> = Vec::new();
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut source = MessageSource::new(arguments, 0);
    let mut slowest = Duration::ZERO;
    let began = Instant::now();
    let count = arguments.messages_per_day;
    let step_ns = DAY_NS / count.max(1) as i64;
    for day in 0..arguments.days {
        let start_ns = load::START_NS + (day as i64 + DAYS_BEFORE) * DAY_NS;
        let mut batch = Vec::new();
        for number in 0..count {
            batch.push(source.make(start_ns + number as i64 * step_ns, number));
            if batch.len() == arguments.batch || number + 1 == count {
                archive.insert(std::mem::take(&mut batch)).await?;
            }
        }
        let applied = Instant::now();
        archive.maintain(start_ns + DAY_NS).await?;
        slowest = slowest.max(applied.elapsed());
        let is_full = day >= arguments.keep_days;
        let is_due =
            (day - arguments.keep_days.min(day)).is_multiple_of(arguments.keep_days.max(1));
        if is_full && is_due || day + 1 == arguments.days {
            let span_ns = arguments.keep_days as i64 * DAY_NS;
            let mut times = Vec::new();
            for _ in 0..PAGES {
                times.push(
                    load::read(
                        archive,
                        arguments.topics,
                        &mut rng,
                        start_ns - span_ns,
                        span_ns,
                    )
                    .await?,
                );
            }
            times.sort();
            let page_p95_ms = report::percentile_ms(&times, 95);
            println!("day {}: pages: {}", day + 1, report::percentiles(times));
            let index_share = report::print_sizes(archive).await?;
            if page_p95_ms > arguments.page_p95_ms {
                over.push(format!(
                    "day {}: p95 of a page is {page_p95_ms:.1} ms",
                    day + 1
                ));
            }
            if index_share > arguments.index_share {
                over.push(format!(
                    "day {}: indexes are {index_share:.2} of the data",
                    day + 1
                ));
            }
        }
    }
    println!(
        "{} days in {:.0} s; slowest run of the retention: {} ms",
        arguments.days,
        began.elapsed().as_secs_f64(),
        slowest.as_millis()
    );
    match over.is_empty() {
        true => Ok(()),
        false => Err(format!("over the bounds: {}", over.join("; ")).into()),
    }
}
