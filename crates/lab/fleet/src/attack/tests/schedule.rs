use super::*;

const INTERVAL: Duration = Duration::from_millis(20);

fn at(ready_ms: u64, messages: u32, epoch_s: u64) -> (u128, Vec<(u64, u32)>) {
    let ready = Duration::from_millis(ready_ms);
    let schedule = Schedule::new(ready, messages, INTERVAL, epoch_s);
    let messages = schedule.messages.into_iter();
    let messages = messages.map(|(epoch, count)| (epoch.0, count)).collect();
    (schedule.opens.as_millis(), messages)
}

#[test]
fn messages_that_fit_into_the_epoch_are_of_it() {
    assert_eq!(at(52_000, 150, 10), (50_050, vec![(5, 150)]));
    assert_eq!(at(57_000, 150, 10), (50_050, vec![(5, 150)]), "just");
}

#[test]
fn others_wait_for_the_next() {
    assert_eq!(at(57_001, 150, 10), (60_050, vec![(6, 150)]));
}

#[test]
fn what_is_longer_than_an_epoch_is_of_several() {
    let of_several = vec![(53, 50), (54, 50), (55, 25)];
    assert_eq!(at(52_500, 125, 1), (53_050, of_several));
}

#[test]
fn a_moment_is_in_the_epoch_that_it_opens() {
    let (opens_ms, messages) = at(57_001, 150, 10);
    let opens = Duration::from_millis(opens_ms as u64);
    assert_eq!(epoch_at(opens, 10), Epoch(messages[0].0));
}
