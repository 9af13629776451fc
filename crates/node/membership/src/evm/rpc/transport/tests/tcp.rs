use std::net::TcpListener;

use super::*;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[test]
fn the_second_address_is_tried_when_the_first_one_is_dead() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = gone.local_addr().unwrap();
    drop(gone);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let alive = listener.local_addr().unwrap();
    let tcp = reach(&[dead, alive], soon()).unwrap();
    assert_eq!(tcp.peer_addr().unwrap(), alive);
    assert!(reach(&[dead], soon()).is_err());
    assert!(reach(&[], soon()).is_err());
}

#[test]
fn names_are_looked_up_with_and_without_a_port() {
    let found = |host| resolve(host, 80, soon()).unwrap();
    assert_eq!(found("127.0.0.1"), ["127.0.0.1:80".parse().unwrap()]);
    assert_eq!(found("127.0.0.1:9"), ["127.0.0.1:9".parse().unwrap()]);
    assert_eq!(found("[::1]"), ["[::1]:80".parse().unwrap()]);
    assert_eq!(found("[::1]:9"), ["[::1]:9".parse().unwrap()]);
}

#[test]
fn nothing_begins_after_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let alive = listener.local_addr().unwrap();
    let late = Instant::now();
    let is_late = |error: Error| error.kind() == ErrorKind::TimedOut;
    assert!(is_late(reach(&[alive], late).unwrap_err()));
    assert!(is_late(resolve("127.0.0.1", 80, late).unwrap_err()));
    let mut stream = TimedTcp::new(TcpStream::connect(alive).unwrap(), late);
    assert!(is_late(stream.write(b"x").unwrap_err()));
    assert!(is_late(stream.read(&mut [0]).unwrap_err()));
}
