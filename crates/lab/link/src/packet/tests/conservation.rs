//! Conservation: every packet offered is in the network, delivered or dropped, exactly once.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn link() -> impl Strategy<Value = LinkConfig> {
    let rate = proptest::option::of(1_000_u64..10_000_000)
        .prop_map(|rate| rate.and_then(Rate::bytes_per_s));
    let discipline = prop_oneof![
        Just(Discipline::Fifo),
        (1_u64..20, 1_u64..200, 0_u32..3000).prop_map(|(target, interval, max_packet_bytes)| {
            let (target_ns, interval_ns) = (target * MS, interval * MS);
            Discipline::CoDel(CoDel {
                target_ns,
                interval_ns,
                max_packet_bytes,
            })
        }),
    ];
    (rate, 0_u32..20_000, 0_u64..100_000, discipline).prop_map(
        |(rate, burst_bytes, queue_max_bytes, discipline)| LinkConfig {
            rate,
            burst_bytes,
            queue_max_bytes,
            discipline,
        },
    )
}

fn path() -> impl Strategy<Value = Path> {
    let jitter = prop_oneof![
        Just(Jitter::None),
        (0..50 * MS).prop_map(|spread_ns| Jitter::Uniform { spread_ns }),
        (0..50 * MS).prop_map(|sd_ns| Jitter::Normal { sd_ns }),
    ];
    let order = prop_oneof![
        Just(Order::Kept),
        Just(Order::Free),
        (0_u32..=1_000_000, 0..100 * MS).prop_map(|(ppm, extra_ns)| Order::Late { ppm, extra_ns }),
    ];
    (0..200 * MS, jitter, 0_u32..300_000, order).prop_map(|(delay_ns, jitter, loss_ppm, order)| {
        Path {
            delay_ns,
            jitter,
            loss_ppm,
            order,
        }
    })
}

proptest! {
    #[test]
    fn nothing_appears_and_nothing_vanishes(
        hosts in proptest::collection::vec((link(), link()), 3),
        path in path(),
        steps in proptest::collection::vec((0..20 * MS, 0_u32..3, 0_u32..3, 0_u32..70_000), 1..200),
    ) {
        let host = |(uplink, downlink): &(LinkConfig, LinkConfig)| HostConfig {
            uplink: *uplink,
            downlink: *downlink,
        };
        let hosts: Vec<_> = hosts.iter().map(host).collect();
        let mut network = Network::new(&hosts, Paths::uniform(path), [1; 32]).unwrap();
        let mut out = BTreeSet::new();
        let mut now_ns = 0;
        for (packet, (gap_ns, from, to, len_bytes)) in steps.into_iter().enumerate() {
            now_ns += gap_ns;
            network.handle(now_ns, Input::Packet { from, to, len_bytes, packet }).unwrap();
            collect(&mut network, now_ns, &mut out)?;
            prop_assert_eq!(packet + 1, out.len() + network.held());
        }
        let sent = out.len() + network.held();
        while let Some(at_ns) = network.next_timeout() {
            network.handle(at_ns, Input::Tick).unwrap();
            collect(&mut network, at_ns, &mut out)?;
        }
        prop_assert_eq!((sent, network.held()), (out.len(), 0));
    }
}

/// Each packet leaves the network once, and not before its due time.
fn collect(
    network: &mut Network<usize>,
    now_ns: u64,
    out: &mut BTreeSet<usize>,
) -> Result<(), TestCaseError> {
    while let Some(output) = network.poll() {
        let (at_ns, packet) = match output {
            Output::Deliver { at_ns, packet, .. } => (at_ns, packet),
            Output::Dropped(dropped) => (dropped.at_ns, dropped.packet),
        };
        prop_assert!(at_ns <= now_ns);
        prop_assert!(out.insert(packet));
    }
    Ok(())
}
