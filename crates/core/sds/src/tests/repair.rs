use std::time::Duration;

use serde_json::Value;

use super::*;

#[test]
fn delays_and_groups_are_those_of_js_waku() {
    let text = include_str!("../../tests/vectors/sds.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let timing = RepairTiming {
        min_ms: 30_000,
        max_ms: 120_000,
        response_groups: 3,
    };
    let cases = vectors["repair"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let text = |name: &str| case[name].as_str().unwrap();
        let (participant, sender, id) = (text("participant"), text("sender"), text("id"));
        assert_eq!(
            case["request_ms"],
            request_delay_ms(&timing, participant, id),
            "{case}"
        );
        assert_eq!(
            case["response_ms"],
            response_delay_ms(&timing, participant, sender, id),
            "{case}"
        );
        assert_eq!(
            case["responds"],
            responds_to(&timing, participant, sender, id),
            "{case}"
        );
    }
}

#[test]
fn timing_without_a_range_does_not_divide_by_zero() {
    let timing = RepairTiming {
        min_ms: 5,
        max_ms: 0,
        response_groups: 0,
    };
    assert_eq!(request_delay_ms(&timing, "a", "m"), 5);
    assert_eq!(response_delay_ms(&timing, "a", "b", "m"), 0);
    assert!(responds_to(&timing, "a", "b", "m"));
}

#[test]
fn responses_are_bounded_and_spaced() {
    let mut responses = Responses::default();
    let ids: Vec<Id> = (0..9).map(|n| Id::from(format!("m{n}"))).collect();
    for id in &ids {
        responses.add(id, Time::from_millis(10), 3);
    }
    responses.add(&ids[0], Time::from_millis(1), 3);
    assert_eq!(responses.len(), 3);
    responses.remove("m1");

    let now = Time::from_millis(10);
    assert_eq!(responses.take_due(Time::from_millis(9), 100), None);
    assert_eq!(responses.take_due(now, 100), Some(ids[0].clone()));
    assert_eq!(responses.take_due(now, 100), None);
    assert_eq!(
        responses.next_timeout(),
        Some(now.after(Duration::from_millis(100)))
    );
    let later = Time::from_millis(110);
    assert_eq!(responses.take_due(later, 100), Some(ids[2].clone()));
    assert_eq!(responses.next_timeout(), None);
}
