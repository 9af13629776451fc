use super::*;

fn hash(number: u8) -> MessageHash {
    MessageHash([number; 32])
}

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

#[test]
fn a_message_is_new_once_until_its_time_is_over() {
    let mut seen = SeenMessages::new(Duration::from_secs(120), 10);
    assert!(seen.insert(at(0), hash(1)));
    assert!(!seen.insert(at(119), hash(1)), "known, and renewed");
    assert!(!seen.insert(at(238), hash(1)));
    assert!(
        seen.insert(at(358), hash(1)),
        "120 s after the last arrival"
    );
}

#[test]
fn the_oldest_message_gives_way_to_a_new_one() {
    let mut seen = SeenMessages::new(Duration::from_secs(120), 2);
    for number in [1, 2, 1, 3] {
        seen.insert(at(0), hash(number));
    }
    assert_eq!(seen.len(), 2);
    assert!(
        !seen.insert(at(0), hash(1)),
        "renewed before 3 came, so 2 gave way"
    );
    assert!(seen.insert(at(0), hash(2)));
    assert_eq!(seen.len(), 2);
}

#[test]
fn old_messages_are_forgotten_without_new_ones() {
    let mut seen = SeenMessages::new(Duration::from_secs(120), 10);
    seen.insert(at(0), hash(1));
    seen.insert(at(1), hash(2));
    seen.expire(at(120));
    assert_eq!(seen.len(), 1);
    seen.expire(at(121));
    assert_eq!(seen.len(), 0);
}
