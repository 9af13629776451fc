use super::*;

const SECOND_NS: i64 = 1_000_000_000;
const NOW_NS: i64 = 1_700_000_000 * SECOND_NS;

fn plan(last_known_ns: Option<i64>) -> ResumePlan {
    let topics = ["/waku/2/rs/1/0".into(), "/waku/2/rs/1/1".into()];
    ResumePlan::new(last_known_ns, NOW_NS, topics, &ResumeLimits::default())
}

#[test]
fn a_node_asks_from_20_seconds_before_its_last_message_until_now() {
    let plan = plan(Some(NOW_NS - 600 * SECOND_NS));
    assert_eq!(plan.start_ns, NOW_NS - 620 * SECOND_NS);
    assert_eq!(plan.end_ns, NOW_NS);
    assert!(!plan.is_incomplete);
    assert_eq!(plan.queries.len(), 2);
    for (query, topic) in plan
        .queries
        .iter()
        .zip(["/waku/2/rs/1/0", "/waku/2/rs/1/1"])
    {
        let content = ContentCriteria {
            pubsub_topic: Some(topic.into()),
            content_topics: vec![],
            start_ns: Some(plan.start_ns),
            end_ns: Some(NOW_NS),
        };
        assert_eq!(query.criteria, HistoryCriteria::Content(content));
        assert_eq!(query.direction, PageDirection::Forward);
        assert_eq!(
            (query.limit, query.cursor, query.include_data),
            (100, None, true)
        );
    }
}

#[test]
fn nobody_asks_for_more_than_six_hours() {
    let six_hours_ns = 6 * 3600 * SECOND_NS;
    for last in [None, Some(i64::MIN), Some(0), Some(NOW_NS - six_hours_ns)] {
        let plan = plan(last);
        assert_eq!(plan.start_ns, NOW_NS - six_hours_ns);
        assert!(plan.is_incomplete);
    }
    let in_time = plan(Some(NOW_NS - six_hours_ns + 20 * SECOND_NS));
    assert!(!in_time.is_incomplete);
}

#[test]
fn a_timestamp_just_ahead_counts_as_now_and_one_of_a_clock_that_was_wrong_says_nothing() {
    let ahead = plan(Some(NOW_NS + SECOND_NS));
    assert_eq!(ahead.start_ns, NOW_NS - 20 * SECOND_NS);
    for last in [NOW_NS + 3 * 86_400 * SECOND_NS, i64::MAX] {
        assert_eq!(plan(Some(last)).start_ns, plan(None).start_ns);
    }
}

#[test]
fn extreme_clocks_do_not_overflow() {
    let limits = ResumeLimits {
        overlap: Duration::MAX,
        max_back: Duration::MAX,
    };
    for now_ns in [i64::MIN, 0, i64::MAX] {
        let plan = ResumePlan::new(Some(0), now_ns, [], &limits);
        assert!(plan.start_ns <= plan.end_ns);
    }
}

#[test]
fn a_message_is_new_once() {
    let mut known = Deduplicator::new(2);
    let [a, b, c] = [1, 2, 3].map(|byte| MessageHash([byte; 32]));
    assert!(known.insert(a) && known.insert(b));
    assert!(!known.insert(a) && !known.insert(b));
    assert!(known.insert(c), "the third pushes the first one out");
    assert!(!known.insert(b) && !known.insert(c));
    assert!(known.insert(a));
    assert_eq!(known.order.len(), 2);
}
