//! Tests of delay, jitter, loss and order on paths.

use super::*;

fn network(paths: Paths, hosts: usize) -> Network<usize> {
    let host = HostConfig::symmetric(LinkConfig::UNLIMITED);
    Network::new(&vec![host; hosts], paths, [3; 32]).unwrap()
}

/// Returns the delays of `count` packets sent a second apart.
fn delays(path: Path, count: usize) -> Vec<u64> {
    let at_ns = |packet: usize| packet as u64 * 1000 * MS;
    let sends: Vec<_> = (0..count)
        .flat_map(|packet| volley(at_ns(packet), 1, 100))
        .collect();
    let log = run(&mut network(Paths::uniform(path), 2), &sends);
    log.delivered
        .iter()
        .map(|(arrived_ns, packet)| arrived_ns - at_ns(*packet))
        .collect()
}

#[test]
fn groups_have_paths_of_their_own() {
    let ms = [1, 20, 30, 4].map(|ms| Path::constant(ms * MS));
    let paths = Paths::grouped(vec![0, 0, 1], ms.to_vec()).unwrap();
    let pairs = [(0, 1), (0, 2), (2, 1), (2, 2)];
    let mut network = network(paths, 3);
    let sends = pairs.map(|(from, to)| Send {
        at_ns: 0,
        from,
        to,
        len_bytes: 9,
    });
    let log = run(&mut network, &sends);
    assert_eq!(
        log.delivered,
        [(MS, 0), (4 * MS, 3), (20 * MS, 1), (30 * MS, 2)]
    );
}

#[test]
fn uniform_jitter_has_its_width_and_mean() {
    let jitter = Jitter::Uniform { spread_ns: 10 * MS };
    let delays = delays(
        Path {
            jitter,
            ..Path::constant(50 * MS)
        },
        4000,
    );
    let (min, max) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!((40 * MS..41 * MS).contains(min), "{min}");
    assert!((59 * MS..=60 * MS).contains(max), "{max}");
    let mean = delays.iter().sum::<u64>() / 4000;
    assert!(mean.abs_diff(50 * MS) < MS / 2, "{mean}");
}

#[test]
fn normal_jitter_has_its_moments_and_stops_at_zero() {
    let jitter = Jitter::Normal { sd_ns: 5 * MS };
    let wide = delays(
        Path {
            jitter,
            ..Path::constant(50 * MS)
        },
        4000,
    );
    let mean = wide.iter().sum::<u64>() / 4000;
    assert!(mean.abs_diff(50 * MS) < MS / 2, "{mean}");
    let square = |delay: &u64| (*delay as f64 - 5e7).powi(2);
    let sd = (wide.iter().map(square).sum::<f64>() / 4000.0).sqrt();
    assert!((4.8e6..5.2e6).contains(&sd), "{sd}");

    let near_zero = delays(
        Path {
            jitter,
            ..Path::constant(MS)
        },
        1000,
    );
    assert!(near_zero.contains(&0));
}

#[test]
fn loss_takes_its_share_and_hits_both_directions_alike() {
    let lossy = Path {
        loss_ppm: 200_000,
        ..Path::constant(MS)
    };
    let log = run(
        &mut network(Paths::uniform(lossy), 2),
        &volley(0, 10_000, 100),
    );
    let lost = log.dropped.len();
    assert!((1800..2200).contains(&lost), "{lost}");
    assert!(log.dropped.iter().all(|(_, why, _)| *why == Why::Lost));
}

#[test]
fn order_is_kept_unless_it_is_free() {
    let jitter = Jitter::Uniform { spread_ns: 10 * MS };
    let sends: Vec<_> = (0..500)
        .flat_map(|packet| volley(packet * MS, 1, 100))
        .collect();
    let order_of = |order| {
        let path = Path {
            jitter,
            order,
            ..Path::constant(20 * MS)
        };
        let log = run(&mut network(Paths::uniform(path), 2), &sends);
        log.delivered
            .iter()
            .map(|(_, packet)| *packet)
            .collect::<Vec<_>>()
    };
    assert!(order_of(Order::Kept).is_sorted());
    assert!(!order_of(Order::Free).is_sorted());
}

#[test]
fn late_packets_are_overtaken_and_hold_nobody_up() {
    let order = Order::Late {
        ppm: 100_000,
        extra_ns: 5 * MS,
    };
    let path = Path {
        order,
        ..Path::constant(20 * MS)
    };
    let sends: Vec<_> = (0..1000)
        .flat_map(|packet| volley(packet * MS, 1, 100))
        .collect();
    let log = run(&mut network(Paths::uniform(path), 2), &sends);
    let delay = |(at_ns, packet): &(u64, usize)| at_ns - *packet as u64 * MS;
    let late = log
        .delivered
        .iter()
        .filter(|line| delay(line) == 25 * MS)
        .count();
    let prompt = log
        .delivered
        .iter()
        .filter(|line| delay(line) == 20 * MS)
        .count();
    assert_eq!(late + prompt, 1000);
    assert!((70..130).contains(&late), "{late}");
}

#[test]
fn the_seed_decides() {
    let jitter = Jitter::Uniform { spread_ns: MS };
    let host = HostConfig::symmetric(LinkConfig::UNLIMITED);
    let with = |seed| {
        let paths = Paths::uniform(Path {
            jitter,
            ..Path::constant(MS)
        });
        run(
            &mut Network::new(&[host; 2], paths, seed).unwrap(),
            &volley(0, 20, 1),
        )
    };
    assert_eq!(with([1; 32]), with([1; 32]));
    assert_ne!(with([1; 32]), with([2; 32]));
}

#[test]
fn paths_that_fit_no_network_are_refused() {
    let path = Path::constant(0);
    let no_square = Paths::per_pair(vec![path; 3]);
    assert_eq!(no_square, Err(ConfigError::NotSquare { paths: 3 }));
    let no_group = Paths::grouped(vec![0, 2], vec![path; 4]);
    let expected = ConfigError::NoSuchGroup {
        host: 1,
        group: 2,
        groups: 2,
    };
    assert_eq!(no_group, Err(expected));

    let host = HostConfig::symmetric(LinkConfig::UNLIMITED);
    let build = |paths| Network::<()>::new(&[host; 3], paths, [0; 32]).err();
    let paths = Paths::per_pair(vec![path; 4]).unwrap();
    assert_eq!(
        build(paths),
        Some(ConfigError::GroupPerHost {
            groups: 2,
            hosts: 3
        })
    );
    let sure = Path {
        loss_ppm: 1_000_001,
        ..path
    };
    let refused = Some(ConfigError::Probability { ppm: 1_000_001 });
    assert_eq!(build(Paths::uniform(sure)), refused);
    let order = Order::Late {
        ppm: 1_000_001,
        extra_ns: 0,
    };
    assert_eq!(build(Paths::uniform(Path { order, ..path })), refused);
}
