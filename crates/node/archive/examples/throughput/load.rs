//! Messages to insert, and pages to read.

use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use tokio::sync::mpsc;
use undertone_archive::Archive;
use undertone_message::WakuMessage;
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection, StoredMessage,
};

use crate::{Arguments, Failure};

pub(crate) const SECOND_NS: i64 = 1_000_000_000;
pub(crate) const DAY_NS: i64 = 86_400 * SECOND_NS;

/// Time of the first message.
pub(crate) const START_NS: i64 = 20_000 * DAY_NS;

/// Time between messages, so that a million are three hours.
pub(crate) const STEP_NS: i64 = SECOND_NS / 100;

/// Bytes of an RLN proof as Waku encodes it.
pub(crate) const PROOF_BYTES: usize = 288;

const PUBSUB_TOPICS: u64 = 8;
const CONTENT_TOPICS: u32 = 200;

/// Messages that may wait to be written, as many as in a node.
const WAITING_MAX: usize = 2_048;

/// Source of messages of one kind.
pub(crate) struct MessageSource {
    rng: ChaCha8Rng,
    payload: usize,
}

impl MessageSource {
    pub(crate) fn new(arguments: &Arguments, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
        rng.set_stream(stream);
        Self {
            rng,
            payload: arguments.payload,
        }
    }

    pub(crate) fn make(&mut self, timestamp_ns: i64, number: u64) -> StoredMessage {
        let content_topic = content_topic(&mut self.rng);
        let mut random = |length: usize| {
            let mut bytes = vec![0; length];
            self.rng.fill_bytes(&mut bytes);
            bytes
        };
        let mut message = WakuMessage::new(random(self.payload), content_topic);
        message.timestamp = Some(timestamp_ns);
        message.rate_limit_proof = Some(random(PROOF_BYTES).into());
        let shard = number % PUBSUB_TOPICS;
        StoredMessage::new(format!("/waku/2/rs/1/{shard}"), message)
    }
}

fn content_topic(rng: &mut ChaCha8Rng) -> String {
    format!("/measure/1/topic-{}/proto", rng.next_u32() % CONTENT_TOPICS)
}

/// Inserts messages from a time on, as fast as the archive takes them.
pub(crate) async fn fill(
    archive: &Archive,
    arguments: &Arguments,
    start_ns: i64,
    count: u64,
) -> Result<(), Failure> {
    let (sender, waiting) = mpsc::channel(WAITING_MAX);
    let writing = tokio::spawn(write(archive.clone(), waiting, arguments.batch));
    let mut source = MessageSource::new(arguments, 0);
    for number in 0..count {
        let message = source.make(start_ns + number as i64 * STEP_NS, number);
        sender.send(message).await?;
    }
    drop(sender);
    let inserted = writing.await??;
    if inserted != count {
        return Err(format!("{inserted} of {count} messages are new to the archive").into());
    }
    Ok(())
}

/// Writes incoming messages as a node does: in batches of those that wait. Returns the number of messages.
pub(crate) async fn write(
    archive: Archive,
    mut waiting: mpsc::Receiver<StoredMessage>,
    most: usize,
) -> Result<u64, Failure> {
    let mut batch = Vec::new();
    let mut inserted = 0;
    while waiting.recv_many(&mut batch, most).await > 0 {
        let report = archive.insert(std::mem::take(&mut batch)).await?;
        inserted += report.inserted as u64;
    }
    Ok(inserted)
}

/// Offers messages at a rate, as a network does; messages that find no place are lost. Returns the number of lost
/// messages.
pub(crate) async fn offer(
    mut source: MessageSource,
    sender: mpsc::Sender<StoredMessage>,
    first: u64,
    rate: u64,
    time: Duration,
) -> u64 {
    let began = Instant::now();
    let (mut offered, mut lost) = (0, 0);
    while began.elapsed() < time {
        let due = (began.elapsed().as_secs_f64() * rate as f64) as u64;
        while offered < due {
            let number = first + offered;
            let message = source.make(START_NS + number as i64 * STEP_NS, number);
            lost += u64::from(sender.try_send(message).is_err());
            offered += 1;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    lost
}

/// Makes the queue that a node has before its archive.
pub(crate) fn queue() -> (mpsc::Sender<StoredMessage>, mpsc::Receiver<StoredMessage>) {
    mpsc::channel(WAITING_MAX)
}

/// Reads a page of 100 messages of random content topics from a random time on, and returns the duration.
pub(crate) async fn read(
    archive: &Archive,
    topics: usize,
    rng: &mut ChaCha8Rng,
    start_ns: i64,
    span_ns: i64,
) -> Result<Duration, Failure> {
    let content_topics = (0..topics.max(1)).map(|_| content_topic(rng).into());
    let content_topics = content_topics.collect();
    let within_ns = (span_ns.unsigned_abs() * 4 / 5).max(1);
    let query = HistoryQuery {
        criteria: HistoryCriteria::Content(ContentCriteria {
            content_topics,
            start_ns: Some(start_ns + (rng.next_u64() % within_ns) as i64),
            ..ContentCriteria::default()
        }),
        ..everything(PageDirection::Forward)
    };
    let began = Instant::now();
    let page = archive.query(query).await?;
    let took = began.elapsed();
    if page.entries.is_empty() {
        return Err("a page is empty: measure more messages".into());
    }
    Ok(took)
}

/// Query for everything with data, 100 messages a page.
pub(crate) fn everything(direction: PageDirection) -> HistoryQuery {
    HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction,
        limit: 100,
    }
}
