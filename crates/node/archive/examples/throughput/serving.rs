//! Insertions and pages at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_archive::Archive;

use crate::load::{self, MessageSource};
use crate::{Arguments, Failure, report};

/// Offers messages at the given rate, then as fast as the archive accepts them; pages are read all
/// the time.
pub(crate) async fn measure(archive: &Archive, arguments: &Arguments) -> Result<(), Failure> {
    let first = arguments.messages;
    one(archive, arguments, first, Some(arguments.rate)).await?;
    // After all the messages that the first part may have offered.
    let first = first + arguments.rate * (arguments.seconds + 60);
    one(archive, arguments, first, None).await
}

async fn one(
    archive: &Archive,
    arguments: &Arguments,
    first: u64,
    rate: Option<u64>,
) -> Result<(), Failure> {
    let time = Duration::from_secs(arguments.seconds);
    let (sender, waiting) = load::queue();
    let began = Instant::now();
    let writing = tokio::spawn(load::write(archive.clone(), waiting, arguments.batch));
    let source = MessageSource::new(arguments, first);
    let offering = match rate {
        Some(rate) => tokio::spawn(load::offer(source, sender, first, rate, time)),
        None => tokio::spawn(push(source, sender, first, time)),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..arguments.readers)
        .map(|reader| {
            let (archive, arguments, stop) =
                (archive.clone(), arguments.clone(), Arc::clone(&stop));
            tokio::spawn(async move { read(&archive, &arguments, reader, &stop).await })
        })
        .collect();
    let lost = offering.await?;
    let inserted = writing.await??;
    let took_s = began.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for reader in readers {
        times.extend(reader.await??);
    }
    let offered = match rate {
        Some(rate) => format!("{rate} per second offered"),
        None => "as many as possible".to_owned(),
    };
    println!(
        "{offered}: {:.0} insertions per second, {lost} messages lost; pages meanwhile: {}",
        inserted as f64 / took_s,
        report::percentiles(times)
    );
    Ok(())
}

/// Offers messages without pause, waiting for a place for each.
async fn push(
    mut source: MessageSource,
    sender: tokio::sync::mpsc::Sender<undertone_services::history::StoredMessage>,
    first: u64,
    time: Duration,
) -> u64 {
    let began = Instant::now();
    let mut number = first;
    while began.elapsed() < time {
        let message = source.make(load::START_NS + number as i64 * load::STEP_NS, number);
        if sender.send(message).await.is_err() {
            break;
        }
        number += 1;
    }
    0
}

async fn read(
    archive: &Archive,
    arguments: &Arguments,
    reader: u64,
    stop: &AtomicBool,
) -> Result<Vec<Duration>, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    rng.set_stream(reader + 1);
    let span_ns = arguments.messages as i64 * load::STEP_NS;
    let mut times = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        times.push(load::read(archive, arguments.topics, &mut rng, load::START_NS, span_ns).await?);
    }
    Ok(times)
}
