use undertone_sim::scenario::{Delay, Topology};

use super::*;

const MS: u64 = 1_000_000;

#[test]
fn links_and_paths_are_those_of_the_scenario() {
    let mut scenario = Scenario::plain(3);
    scenario.topology = Topology::Line;
    let one_way_ns = vec![vec![0, 5 * MS], vec![7 * MS, 0]];
    scenario.network.delay = Delay::Places { one_way_ns };
    scenario.network.place_rates = vec![(1_000, 2_000), (3_000, 4_000)];
    scenario.network.loss = 0.002;
    scenario.network.jitter_ns = 2 * MS;
    let plan = Plan::new(&scenario, 1).unwrap();
    let config = config(&scenario, &plan, 1).unwrap();
    let rates = |host: usize| {
        let HostConfig { uplink, downlink } = config.hosts[host];
        [uplink, downlink].map(|link| link.rate.unwrap().as_bytes_per_s())
    };
    assert_eq!(
        [rates(0), rates(1), rates(2)],
        [[1_000, 2_000], [3_000, 4_000], [1_000, 2_000]]
    );
    let Discipline::CoDel(codel) = config.hosts[0].downlink.discipline else {
        panic!("the scenario has CoDel at the receiver");
    };
    assert_eq!((codel.target_ns, codel.interval_ns), (5 * MS, 100 * MS));
    let there = path(&scenario, &plan, 0, 1);
    assert_eq!((there.delay_ns, there.loss_ppm), (6 * MS, 2_000));
    assert_eq!(there.jitter, Jitter::Uniform { spread_ns: MS });
    assert_eq!(path(&scenario, &plan, 1, 0).delay_ns, 8 * MS);
}

#[test]
fn rates_that_bind_later_do_not_bind_at_first() {
    let mut scenario = Scenario::plain(2);
    scenario.topology = Topology::Line;
    scenario.network.unlimited_until_ns = 1;
    let plan = Plan::new(&scenario, 1).unwrap();
    for host in config(&scenario, &plan, 1).unwrap().hosts {
        assert_eq!((host.uplink.rate, host.downlink.rate), (None, None));
    }
}
