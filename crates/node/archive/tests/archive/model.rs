//! Archives against a sorted vector, with random messages, queries, and arrivals between pages.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use tokio::runtime::Runtime;
use undertone_archive::Archive;
use undertone_message::{MessageHash, WakuMessage};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection, StoredMessage,
};

use crate::fixture::{HOUR_NS, Place, stored};

/// Messages ordered as history is.
#[derive(Default)]
struct Model(Vec<StoredMessage>);

impl Model {
    fn insert(&mut self, message: &StoredMessage) -> bool {
        let known = self.0.iter().any(|other| other.hash == message.hash);
        if known || message.message.is_ephemeral() {
            return false;
        }
        self.0.push(message.clone());
        self.0.sort_by_key(|m| (m.message.timestamp_ns(), m.hash));
        true
    }

    /// Messages that meet the criteria, the first of the first page first.
    fn matching(&self, query: &HistoryQuery) -> Vec<StoredMessage> {
        let meets = |m: &&StoredMessage| match &query.criteria {
            HistoryCriteria::Hashes(hashes) => hashes.contains(&m.hash),
            HistoryCriteria::Content(c) => {
                let time = m.message.timestamp_ns();
                c.pubsub_topic.as_ref().is_none_or(|t| *t == m.pubsub_topic)
                    && (c.content_topics.is_empty()
                        || c.content_topics.contains(&m.message.content_topic))
                    && c.start_ns.is_none_or(|start| start <= time)
                    && c.end_ns.is_none_or(|end| time <= end)
            }
        };
        let mut found: Vec<StoredMessage> = self.0.iter().filter(meets).cloned().collect();
        if query.direction == PageDirection::Backward {
            found.reverse();
        }
        found
    }
}

/// Timestamps: few, so that many are equal; in several slots.
fn timestamp() -> impl Strategy<Value = i64> {
    (-2..7_i64, 0..3_i64).prop_map(|(slot, n)| slot * HOUR_NS * 5 + n)
}

fn any_message() -> impl Strategy<Value = StoredMessage> {
    let options = (
        prop::option::weighted(0.95, timestamp()),
        prop::option::of(0..3_u32),
        prop::option::of(prop::collection::vec(any::<u8>(), 0..3)),
        prop::option::of(prop::collection::vec(any::<u8>(), 0..3)),
        prop::option::weighted(0.4, prop::bool::weighted(0.2)),
    );
    (0..2_u8, 0..3_u8, 0..3_u8, options).prop_map(|(pubsub, content, payload, options)| {
        let (timestamp, version, meta, proof, ephemeral) = options;
        let message = WakuMessage {
            payload: vec![payload; usize::from(payload)].into(),
            content_topic: format!("/app/1/{content}/proto").into(),
            version,
            timestamp,
            meta: meta.map(Into::into),
            rate_limit_proof: proof.map(Into::into),
            ephemeral,
        };
        StoredMessage::new(format!("/waku/2/rs/1/{pubsub}"), message)
    })
}

/// Query for content, or, if it has `picks`, for the hashes of the messages with these numbers.
#[derive(Clone, Debug)]
struct Question {
    picks: Option<Vec<prop::sample::Index>>,
    pubsub: Option<u8>,
    contents: Vec<u8>,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    backward: bool,
    limit: u32,
}

fn question() -> impl Strategy<Value = Question> {
    let picks = prop::collection::vec(any::<prop::sample::Index>(), 0..20);
    (
        prop::option::weighted(0.3, picks),
        prop::option::of(0..3_u8),
        prop::collection::vec(0..4_u8, 0..4),
        prop::option::weighted(0.3, timestamp()),
        prop::option::weighted(0.3, timestamp()),
        any::<bool>(),
        1..12_u32,
    )
        .prop_map(
            |(picks, pubsub, contents, start_ns, end_ns, backward, limit)| Question {
                picks,
                pubsub,
                contents,
                start_ns,
                end_ns,
                backward,
                limit,
            },
        )
}

impl Question {
    fn query(&self, batch: &[StoredMessage]) -> HistoryQuery {
        let topic = |n: &u8| Arc::from(format!("/app/1/{n}/proto"));
        let criteria = match &self.picks {
            Some(picks) => {
                let pick = |index: &prop::sample::Index| index.get(batch).hash;
                HistoryCriteria::Hashes(picks.iter().map(pick).collect())
            }
            None => HistoryCriteria::Content(ContentCriteria {
                pubsub_topic: self.pubsub.map(|n| format!("/waku/2/rs/1/{n}").into()),
                content_topics: self.contents.iter().map(topic).collect(),
                start_ns: self.start_ns,
                end_ns: self.end_ns,
            }),
        };
        HistoryQuery {
            include_data: true,
            criteria,
            cursor: None,
            direction: match self.backward {
                true => PageDirection::Backward,
                false => PageDirection::Forward,
            },
            limit: self.limit,
        }
    }
}

/// Inserts into both, and compares what became of the messages.
async fn insert(archive: &Archive, model: &mut Model, batch: &[StoredMessage]) -> TestCaseResult {
    let new = batch.iter().filter(|message| model.insert(message)).count();
    let ephemeral = batch.iter().filter(|m| m.message.is_ephemeral()).count();
    let report = archive.insert(batch.to_vec()).await.unwrap();
    prop_assert_eq!((report.inserted, report.ephemeral), (new, ephemeral));
    prop_assert_eq!(report.duplicates, batch.len() - new - ephemeral);
    Ok(())
}

/// Reads all pages and compares them with the model, while `arrivals` are inserted between pages.
async fn compare(
    archive: &Archive,
    model: &mut Model,
    mut query: HistoryQuery,
    arrivals: &[StoredMessage],
) -> TestCaseResult {
    let before: BTreeSet<MessageHash> = model.matching(&query).iter().map(|m| m.hash).collect();
    let mut seen = BTreeSet::new();
    let mut arrivals = arrivals.chunks(3);
    loop {
        let all = model.matching(&query);
        // Behind the cursor, in the order of the query.
        let key = |m: &StoredMessage| (m.message.timestamp_ns(), m.hash);
        let cursor = query.cursor.map(|hash| {
            key(model
                .0
                .iter()
                .find(|m| m.hash == hash)
                .expect("cursors are of stored messages"))
        });
        let behind = |m: &&StoredMessage| match (cursor, query.direction) {
            (None, _) => true,
            (Some(cursor), PageDirection::Forward) => key(m) > cursor,
            (Some(cursor), PageDirection::Backward) => key(m) < cursor,
        };
        let rest: Vec<&StoredMessage> = all.iter().filter(behind).collect();
        let limit = query.limit as usize;
        let mut expected: Vec<_> = rest.iter().take(limit).map(|m| (*m).clone()).collect();
        let next = expected
            .last()
            .filter(|_| rest.len() > limit)
            .map(|m| m.hash);
        if query.direction == PageDirection::Backward {
            expected.reverse();
        }
        let page = archive.query(query.clone()).await.unwrap();
        let found: Vec<_> = page.entries.into_iter().map(stored).collect();
        for message in &found {
            prop_assert!(seen.insert(message.hash), "{} came twice", message.hash);
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(page.next, next);
        query.cursor = page.next;
        if query.cursor.is_none() {
            break;
        }
        if let Some(batch) = arrivals.next() {
            insert(archive, model, batch).await?;
        }
    }
    prop_assert!(
        before.is_subset(&seen),
        "messages of the first page's time are missing"
    );
    Ok(())
}

/// Runs the comparison in new places.
fn check(cases: u32, place: impl Fn() -> Option<Place>) {
    let runtime = Runtime::new().unwrap();
    let strategy = (
        prop::collection::vec(any_message(), 1..120),
        prop::collection::vec(
            (question(), prop::collection::vec(any_message(), 0..20)),
            1..12,
        ),
    );
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&strategy, |(batch, questions)| {
        let Some(place) = place() else {
            return Ok(());
        };
        runtime.block_on(async {
            let archive = place.open("time:5d").await;
            let mut model = Model::default();
            for part in batch.chunks(50) {
                insert(&archive, &mut model, part).await?;
            }
            for (question, arrivals) in &questions {
                let query = question.query(&batch);
                compare(&archive, &mut model, query, arrivals).await?;
            }
            Ok(())
        })
    });
    // The error has the smallest failing input, which replays it.
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn sqlite_agrees_with_a_sorted_vector() {
    check(24, Place::sqlite);
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_agrees_with_a_sorted_vector() {
    check(10, Place::postgres);
}
