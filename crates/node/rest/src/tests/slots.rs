use futures::FutureExt as _;

use super::*;

fn is_wanted(slot: &Slot) -> bool {
    slot.is_wanted().now_or_never().is_some()
}

#[test]
fn the_one_that_is_idle_longest_makes_room() {
    let slots = Slots::new(3);
    let [a, b, c] = [(); 3].map(|()| slots.take());
    a.touch(true);
    let d = slots.take();
    assert!(is_wanted(&b), "a has a request under way");
    assert!(![&a, &c, &d].map(is_wanted).contains(&true));
    b.touch(true);
    drop(b);
    c.touch(false);
    let _e = slots.take();
    assert!(is_wanted(&d), "c said something since");
    assert!(!is_wanted(&a) && !is_wanted(&c));
}

#[test]
fn busy_ones_make_room_when_all_are_busy_and_places_come_back() {
    let slots = Slots::new(2);
    let [a, b] = [(); 2].map(|()| slots.take());
    b.touch(true);
    a.touch(true);
    let c = slots.take();
    assert!(is_wanted(&b) && !is_wanted(&a));
    drop((a, b, c));
    assert!(slots.held.lock().by_rank.is_empty());
}

#[test]
fn a_request_under_way_is_not_idle() {
    let slots = Slots::new(1);
    let slot = slots.take();
    let passed = || std::thread::sleep(Duration::from_millis(2));
    passed();
    assert!(slot.is_idle_for(Duration::from_millis(1)));
    slot.touch(true);
    passed();
    assert!(!slot.is_idle_for(Duration::from_millis(1)));
}

#[test]
fn a_connection_has_time_for_its_request_before_it_makes_room() {
    let slots = Slots::new(2);
    let a = slots.take();
    assert_eq!(slots.free_at(), None, "one place is free");
    let b = slots.take();
    let at = slots.free_at().expect("neither has had its time");
    assert!(at <= Instant::now() + GRACE);
    a.touch(true);
    assert!(slots.free_at() > Some(at), "now b is the first to go");
    b.touch(true);
    assert_eq!(slots.free_at(), None, "busy ones have had it");
}

#[test]
fn a_request_that_comes_as_its_connection_is_told_to_close_is_answered() {
    let slots = Slots::new(1);
    let a = slots.take();
    let b = slots.take();
    assert!(is_wanted(&a) && a.must_leave());
    a.touch(true);
    assert!(!a.must_leave());
    let c = slots.take();
    assert!(is_wanted(&a) && is_wanted(&b), "two give way for it");
    assert!(a.must_leave() && b.must_leave() && !c.must_leave());
    c.give_up();
    c.touch(true);
    assert!(slots.held.lock().by_rank.is_empty());
}
