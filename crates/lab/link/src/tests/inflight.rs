//! Congestion windows by Linux's rules, packet by packet.

use super::*;

const LINUX: Profile = Profile::LINUX;

/// Sends packets at `now_ns` and acknowledges them shortly afterwards, two at a time.
fn exchange(window: &mut Window, now_ns: u64, packets: u32) {
    window.sent(now_ns, packets, u64::MAX);
    for pair in 0..packets.div_ceil(2) {
        let packets = 2.min(packets - 2 * pair);
        window.acknowledged(now_ns + 1, packets, &LINUX);
    }
}

#[test]
fn a_window_that_is_just_filled_grows_by_all_of_it() {
    let mut window = Window::new(&LINUX, 0);
    exchange(&mut window, 1, 10);
    assert_eq!(window.packets(), 20);
}

#[test]
fn a_window_that_is_not_filled_grows_to_twice_what_it_held() {
    let mut window = Window::new(&LINUX, 0);
    exchange(&mut window, 1, 6);
    assert_eq!(window.packets(), 12);
    exchange(&mut window, 10, 6);
    assert_eq!(window.packets(), 12);
}

/// A filled window counts as filled until everything in flight at that time is acknowledged.
#[test]
fn what_follows_a_full_window_grows_it_too() {
    let mut window = Window::new(&LINUX, 0);
    window.sent(1, 10, u64::MAX);
    window.acknowledged(2, 2, &LINUX);
    assert_eq!(window.room(), 4);
    window.sent(2, 3, u64::MAX);
    window.acknowledged(3, 11, &LINUX);
    assert_eq!(window.packets(), 10 + 13);
}

#[test]
fn a_window_is_halved_once_for_what_was_in_flight_together() {
    let mut window = Window::new(&LINUX, 0);
    exchange(&mut window, 1, 10);
    window.sent(10, 20, u64::MAX);
    window.dropped(1, true);
    window.lost();
    assert_eq!(window.packets(), 13, "half, and three");
    window.dropped(1, true);
    window.lost();
    assert_eq!(window.packets(), 13, "sent before the first loss was known");
    window.acknowledged(11, 18, &LINUX);
    window.sent(20, 10, u64::MAX);
    window.dropped(1, true);
    window.lost();
    assert_eq!(window.packets(), 14 / 2 + 3, "another round, another loss");
}

#[test]
fn a_reported_packet_that_is_dropped_is_not_taken_from_assumed_ones() {
    let mut window = Window::new(&LINUX, 0);
    window.sent(1, 3, 50);
    window.sent(1, 3, u64::MAX);
    window.dropped(2, true);
    window.advance(50, &LINUX);
    window.acknowledged(60, 1, &LINUX);
    assert!(window.is_idle());
}
