//! Network of gossipsub-interop: delays between regions, and rates of two kinds of nodes.
//!
//! The generator of gossipsub-interop draws a region and a kind for each node, with weights. Here a hundred places have
//! the same proportions, and node n is at place n modulo 100. Source: libp2p/test-plans at f4942573ddf9,
//! gossipsub-interop/network_graph.py.

use serde_json::{Value, json};

/// Regions with their number of nodes in a hundred, and how many of those have the higher rate.
const REGIONS: [(usize, usize, usize); 8] = [
    (AUSTRALIA, 3, 1),
    (EUROPE, 49, 10),
    (EAST_ASIA, 9, 2),
    (WEST_ASIA, 1, 0),
    (NA_EAST, 25, 5),
    (NA_WEST, 11, 2),
    (SOUTH_AFRICA, 1, 0),
    (SOUTH_AMERICA, 1, 0),
];
const AUSTRALIA: usize = 0;
const EUROPE: usize = 1;
const EAST_ASIA: usize = 2;
const WEST_ASIA: usize = 3;
const NA_EAST: usize = 4;
const NA_WEST: usize = 5;
const SOUTH_AFRICA: usize = 6;
const SOUTH_AMERICA: usize = 7;

/// One-way delays between regions in the order above, milliseconds.
const ONE_WAY_MS: [[u32; 8]; 8] = [
    [2, 165, 110, 180, 150, 110, 220, 190],
    [165, 2, 125, 60, 70, 110, 95, 140],
    [110, 125, 4, 110, 140, 100, 175, 175],
    [180, 60, 110, 5, 110, 150, 110, 145],
    [150, 70, 140, 110, 2, 60, 130, 100],
    [110, 110, 100, 150, 60, 2, 160, 100],
    [220, 95, 175, 110, 130, 160, 7, 190],
    [190, 140, 175, 145, 100, 100, 195, 7],
];
/// Rates of the two kinds of nodes, the same up and down, Mbit/s.
const FAST_MBIT_PER_S: u32 = 1024;
const SLOW_MBIT_PER_S: u32 = 50;

/// The table `[network]`.
pub(super) fn table() -> Value {
    let mut places = Vec::new();
    for (region, nodes, fast) in REGIONS {
        places.extend((0..nodes).map(|node| (region, node < fast)));
    }
    let one_way_ms: Vec<Vec<u32>> = places
        .iter()
        .map(|(from, _)| {
            places
                .iter()
                .map(|(to, _)| ONE_WAY_MS[*from][*to])
                .collect()
        })
        .collect();
    let rates: Vec<u32> = places
        .iter()
        .map(|(_, is_fast)| {
            if *is_fast {
                FAST_MBIT_PER_S
            } else {
                SLOW_MBIT_PER_S
            }
        })
        .collect();
    json!({
        "uplink_mbit_per_s": SLOW_MBIT_PER_S,
        "downlink_mbit_per_s": SLOW_MBIT_PER_S,
        "places": {
            "one_way_ms": one_way_ms,
            "uplink_mbit_per_s": rates.clone(),
            "downlink_mbit_per_s": rates,
        },
    })
}
