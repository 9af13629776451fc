use undertone_message::PubsubTopic;

use super::*;

const SECOND_NS: u64 = 1_000_000_000;

fn known(remaining: u32, epoch_ends_ns: u64) -> SendConditions {
    SendConditions {
        reached: vec![PubsubTopic::parse("/waku/2/rs/66/0").unwrap()],
        budget: Some(SendBudget {
            remaining,
            epoch_ends_ns,
        }),
    }
}

fn budgets(changes: &[Input]) -> Vec<(u32, u64)> {
    let budget = |input: &Input| match input {
        Input::Budget {
            remaining,
            epoch_ends,
        } => Some((*remaining, epoch_ends.as_nanos())),
        _ => None,
    };
    changes.iter().filter_map(budget).collect()
}

#[test]
fn only_changes_are_told() {
    let mut told = ToldConditions::new(Some(10));
    let first = told.changes(&known(5, 30 * SECOND_NS), 21 * SECOND_NS, SECOND_NS);
    assert!(matches!(&first[0], Input::RelayTopics(topics) if topics.len() == 1));
    assert_eq!(budgets(&first), [(5, 29 * SECOND_NS)]);
    let same = told.changes(&known(5, 30 * SECOND_NS), 22 * SECOND_NS, SECOND_NS);
    assert!(same.is_empty());
    let spent = told.changes(&known(4, 30 * SECOND_NS), 22 * SECOND_NS, SECOND_NS);
    assert_eq!(budgets(&spent), [(4, 29 * SECOND_NS)]);
    let alone = SendConditions {
        reached: Vec::new(),
        ..known(4, 30 * SECOND_NS)
    };
    let left = told.changes(&alone, 22 * SECOND_NS, SECOND_NS);
    assert!(matches!(&left[..], [Input::RelayTopics(topics)] if topics.is_empty()));
}

#[test]
fn a_budget_that_an_older_epoch_exhausted_is_told_again() {
    let mut told = ToldConditions::new(Some(10));
    told.changes(&known(5, 30 * SECOND_NS), 21 * SECOND_NS, 0);
    told.limit_used_up();
    let again = told.changes(&known(5, 30 * SECOND_NS), 22 * SECOND_NS, 0);
    assert_eq!(budgets(&again), [(5, 30 * SECOND_NS)]);
}

#[test]
fn a_budget_that_nobody_knows_lasts_until_the_epoch_ends() {
    let mut told = ToldConditions::new(Some(10));
    let unknown = SendConditions::default();
    let first = told.changes(&unknown, 21 * SECOND_NS, 0);
    assert_eq!(budgets(&first), [(u32::MAX, 30 * SECOND_NS)]);
    told.limit_used_up();
    assert!(told.changes(&unknown, 29 * SECOND_NS, 0).is_empty());
    let next = told.changes(&unknown, 30 * SECOND_NS, 0);
    assert_eq!(budgets(&next), [(u32::MAX, 40 * SECOND_NS)]);
}

#[test]
fn without_a_rate_limit_there_is_no_budget() {
    let mut told = ToldConditions::new(None);
    let first = told.changes(&SendConditions::default(), 21 * SECOND_NS, 0);
    assert!(first.is_empty());
}
