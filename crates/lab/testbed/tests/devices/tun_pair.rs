//! A real connection between two namespaces, and what is left when they end. Where namespaces or
//! TUN devices are not allowed these tests fail and say why; `cargo xtask test` skips them there.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use undertone_link::packet::{Change, HostConfig, LinkConfig, Path, Paths, Rate};
use undertone_testbed::kernel::{Case, measure};
use undertone_testbed::{AddressPlan, Congestion, Testbed, TestbedConfig, TestbedError, can_run};

const ONE_WAY_MS: u64 = 40;

fn allowed() {
    if let Err(missing) = can_run() {
        panic!("no testbed on this machine: {missing}");
    }
}

fn config(hosts: usize) -> TestbedConfig {
    TestbedConfig {
        hosts: vec![HostConfig::symmetric(LinkConfig::UNLIMITED); hosts],
        paths: Paths::uniform(Path::constant(ONE_WAY_MS * 1_000_000)),
        addresses: AddressPlan::Private,
        congestion: None,
        slow_start_after_idle: true,
        seed: [0; 32],
    }
}

/// No packet comes before its time, so these are lower bounds, whatever else the machine does.
#[test]
fn a_message_takes_the_delay_and_the_windows() {
    allowed();
    let case = Case {
        // More than the initial window of ten segments, so one round trip more when cold.
        size_bytes: 25_000,
        one_way_ms: ONE_WAY_MS,
        rate: Rate::mbit_per_s(100).unwrap(),
        congestion: Congestion::Reno,
        idle: Duration::ZERO,
        send_buffer_bytes: None,
        sockets: false,
    };
    let measured = measure(&case).unwrap();
    let [cold, warm, _] = measured.took;
    assert!(cold >= Duration::from_millis(3 * ONE_WAY_MS), "{cold:?}");
    assert!(warm >= Duration::from_millis(ONE_WAY_MS + 2), "{warm:?}");
    // Three messages of 18 segments.
    assert!(measured.packets.delivered > 54, "{:?}", measured.packets);
    assert_eq!(
        (measured.packets.lost, measured.packets.queue_dropped),
        (0, 0)
    );
}

#[test]
fn hosts_see_each_other_by_address_and_only_through_the_network() {
    allowed();
    let testbed = Testbed::start(&config(3)).unwrap();
    let [_, client, server] = testbed.hosts() else {
        panic!("three hosts were asked for");
    };
    let (at, bound) = (server.address(), mpsc::sync_channel(1));
    let (listening, ready) = bound;
    let serving = server.spawn(move || {
        let listener = TcpListener::bind((at, 4001)).unwrap();
        listening.send(()).unwrap();
        let (mut stream, peer) = listener.accept().unwrap();
        stream.write_all(b"hello").unwrap();
        peer.ip()
    });
    ready.recv().unwrap();
    let talking = client.spawn(move || {
        let began = Instant::now();
        let mut stream = TcpStream::connect((at, 4001)).unwrap();
        let connected = began.elapsed();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        (connected, said)
    });
    let (connected, said) = talking.unwrap().join().unwrap();
    assert_eq!(said, "hello");
    assert!(
        connected >= Duration::from_millis(2 * ONE_WAY_MS),
        "{connected:?}"
    );
    assert_eq!(serving.unwrap().join().unwrap(), client.address());
}

#[test]
fn a_host_with_another_address_is_reached_there_and_no_longer_at_the_first() {
    allowed();
    let testbed = Testbed::start(&TestbedConfig {
        addresses: AddressPlan::Public,
        ..config(2)
    });
    let testbed = testbed.unwrap();
    let [client, server] = testbed.hosts() else {
        panic!("two hosts were asked for");
    };
    let serving = server.spawn(|| TcpListener::bind(("0.0.0.0", 4001)).unwrap());
    let listener = serving.unwrap().join().unwrap();
    let old = server.address();
    let new = server.readdress(old, 1).unwrap();
    assert_ne!(new.octets()[..3], old.octets()[..3]);
    let dialling = client.spawn(move || {
        let limit = Duration::from_secs(1);
        let dial = |at: Ipv4Addr| TcpStream::connect_timeout(&(at, 4001).into(), limit).is_ok();
        (dial(new), dial(old))
    });
    assert_eq!(dialling.unwrap().join().unwrap(), (true, false));
    drop(listener);
    let refused = server.readdress(new, 256);
    assert!(matches!(
        refused,
        Err(TestbedError::Address { host: 1, .. })
    ));
}

#[test]
fn nothing_is_left_behind() {
    allowed();
    let testbed = Testbed::start(&config(2)).unwrap();
    let inside = testbed.hosts()[0].spawn(namespace).unwrap().join().unwrap();
    assert_ne!(inside, namespace());
    drop(testbed);
    // The host's thread ends once nobody can give it jobs any more, and the namespace with it.
    while threads_in(&inside) > 0 {
        std::thread::yield_now();
    }
}

fn namespace() -> String {
    let link = std::fs::read_link("/proc/thread-self/ns/net").expect("procfs is mounted");
    link.to_string_lossy().into_owned()
}

/// How many threads of this process are in a namespace.
fn threads_in(namespace: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("procfs is mounted");
    let of_task = |path: std::path::PathBuf| std::fs::read_link(path.join("ns/net"));
    // A thread can end while its entry is read.
    let links = tasks.filter_map(|task| of_task(task.ok()?.path()).ok());
    links
        .filter(|link| link.to_string_lossy() == namespace)
        .count()
}

#[test]
fn a_silence_takes_windows_back_or_leaves_them() {
    allowed();
    for (slow_start_after_idle, expected) in [(true, "1\n"), (false, "0\n")] {
        let testbed = Testbed::start(&TestbedConfig {
            slow_start_after_idle,
            ..config(1)
        });
        let setting = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_slow_start_after_idle");
        let read = testbed.unwrap().hosts()[0].spawn(setting).unwrap();
        assert_eq!(read.join().unwrap().unwrap(), expected);
    }
}

#[test]
fn a_congestion_control_that_is_not_allowed_is_named() {
    allowed();
    let refused = Congestion::ALL.into_iter().filter(|congestion| {
        let allowed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
        !allowed
            .unwrap()
            .split_whitespace()
            .any(|name| name == congestion.name())
    });
    for congestion in refused {
        let started = Testbed::start(&TestbedConfig {
            congestion: Some(congestion),
            ..config(1)
        });
        let Err(TestbedError::Sysctl { host: 0, value, .. }) = started else {
            panic!("{congestion:?}: {started:?}");
        };
        assert_eq!(value, congestion.name());
    }
}

#[test]
fn a_cut_holds_packets_up_until_it_is_healed() {
    allowed();
    let testbed = Testbed::start(&config(2)).unwrap();
    let [client, server] = testbed.hosts() else {
        panic!("two hosts were asked for");
    };
    let at = server.address();
    let (listening, ready) = mpsc::sync_channel(1);
    let serving = server.spawn(move || {
        let listener = TcpListener::bind((at, 4001)).unwrap();
        listening.send(()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut said = [0; 5];
        stream.read_exact(&mut said).unwrap();
        (said, Instant::now())
    });
    ready.recv().unwrap();
    let connecting = client.spawn(move || TcpStream::connect((at, 4001)).unwrap());
    let mut stream = connecting.unwrap().join().unwrap();
    let cut = Change::Cut {
        cut: 0,
        hosts: vec![0],
    };
    testbed.change(cut).unwrap();
    stream.write_all(b"hello").unwrap();
    while testbed.report().cut == 0 {
        std::thread::yield_now();
    }
    let healed = Instant::now();
    testbed.change(Change::Heal { cut: 0 }).unwrap();
    let (said, heard) = serving.unwrap().join().unwrap();
    assert_eq!(&said, b"hello");
    assert!(heard > healed);
}

#[test]
fn a_change_of_a_host_that_is_not_there_is_an_error() {
    allowed();
    let testbed = Testbed::start(&config(2)).unwrap();
    let error = testbed.change(Change::Hold { host: 2 }).unwrap_err();
    assert!(error.to_string().contains("there is no host 2"), "{error}");
}
