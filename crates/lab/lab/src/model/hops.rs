//! Number of hops that a message needs, and number of copies sent: Equation 2 and Figure 2 of *Message
//! Latency in Waku Relay with Rate Limiting Nullifiers* (DLT 2024).

/// Numbers of nodes shown in Figure 2.
pub const FIGURE_2_NODES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Mesh degrees shown in Figure 2.
pub const FIGURE_2_DEGREES: std::ops::RangeInclusive<u32> = 2..=14;

/// Nodes that know a message after `hops` hops in the best case, including the publisher, if each has
/// `degree` peers and no two nodes forward to the same one.
///
/// Published as `D (D-1)^(h-1) + 1`, which counts the last ring and the publisher only. Reaching every
/// node needs the sum of all rings, `1 + D ((D-1)^h - 1) / (D-2)`, and Equation 2 is solved from that
/// sum. For `D = 2` it is `1 + 2h`.
pub fn nodes_within(degree: u32, hops: u32) -> f64 {
    let d = f64::from(degree);
    let h = f64::from(hops);
    match degree {
        0 => 1.0,
        1 => 1.0 + h.min(1.0),
        2 => 1.0 + 2.0 * h,
        _ => 1.0 + d * ((d - 1.0).powf(h) - 1.0) / (d - 2.0),
    }
}

/// Nodes in the last ring and the publisher, by the published formula.
pub fn nodes_published(degree: u32, hops: u32) -> f64 {
    let d = f64::from(degree);
    match (degree, hops) {
        (_, 0) => 1.0,
        (2, h) => 1.0 + 2.0 * f64::from(h),
        (_, h) => d * (d - 1.0).powf(f64::from(h) - 1.0) + 1.0,
    }
}

/// Equation 2: number of hops after which `nodes` nodes can know a message; `None` where no number
/// suffices (a degree below 2).
///
/// `ceil(log((N-1)(D-2)/D + 1) / log(D-1))`, and `ceil((N-1)/2)` for `D = 2`. Computed by counting up in
/// [`nodes_within`] instead of by logarithms, whose rounding is wrong at exact powers.
pub fn h_max(nodes: u64, degree: u32) -> Option<u64> {
    match degree {
        _ if nodes <= 1 => Some(0),
        0 => None,
        1 => (nodes == 2).then_some(1),
        2 => Some((nodes - 1).div_ceil(2)),
        _ => {
            let (nodes, degree) = (u128::from(nodes), u128::from(degree));
            let (mut reached, mut ring, mut hops) = (1_u128, degree, 0);
            while reached < nodes {
                reached = reached.saturating_add(ring);
                ring = ring.saturating_mul(degree - 1);
                hops += 1;
            }
            Some(hops)
        }
    }
}

/// Copies of a message sent for each node that receives it, about `degree`, as published.
pub fn amplification(degree: u32) -> f64 {
    f64::from(degree)
}

/// Copies that each node but the publisher receives, including the first copies, if every node sends to
/// all its mesh peers but the one it received from, and the publisher to all.
///
/// `(N (D-1) + 1) / (N-1)`. The number is smaller where a copy is cancelled because the receiver already
/// has the message, see [`duplicates`].
pub fn copies_per_delivery(nodes: u64, degree: f64) -> f64 {
    let nodes = nodes as f64;
    (nodes * (degree - 1.0) + 1.0) / (nodes - 1.0)
}

/// Duplicates per delivery, least and most: `D/2 - 1` if each connection carries a message once, `D - 2`
/// if every node sends to all peers but the one it received from.
pub fn duplicates(degree: f64) -> (f64, f64) {
    (degree / 2.0 - 1.0, degree - 2.0)
}

/// One row of Figure 2.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Figure2Row {
    /// Mesh degree of the row.
    pub degree: u32,
    /// Number of hops for each of [`FIGURE_2_NODES`].
    pub h_max: [u64; 4],
    /// Copies sent per node.
    pub amplification: f64,
}

/// The data of Figure 2.
pub fn figure_2() -> Vec<Figure2Row> {
    FIGURE_2_DEGREES
        .map(|degree| Figure2Row {
            degree,
            h_max: FIGURE_2_NODES
                .map(|nodes| h_max(nodes, degree).expect("every degree of the figure is above 1")),
            amplification: amplification(degree),
        })
        .collect()
}
