//! Graphs whose links work with some chance each: which nodes are sure to be connected.

/// Weight of a link that works for certain.
pub(crate) const SURE: f64 = 1e6;

/// Weight from which a chance is taken for certain: one in 10^6 fails.
pub(crate) const ENOUGH: f64 = 14.0;

/// Links from each node, with their weights: a link of weight w fails with probability e^-w, whatever the others do.
pub(crate) type Links = Vec<Vec<(u32, f64)>>;

/// Nodes that are all connected with each other, for certain.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) nodes: Vec<u32>,
    /// Most links between two of the nodes, on the shortest way.
    pub(crate) diameter: u32,
}

/// Weights between the nodes of a part; those of the two directions of a link are the same.
struct Part {
    nodes: Vec<u32>,
    weights: Vec<Vec<f64>>,
}

impl Part {
    fn new(links: &Links) -> Self {
        let count = links.len();
        let mut weights = vec![vec![0.0; count]; count];
        for (from, to) in (0..).zip(links) {
            for (to, weight) in to {
                let back = links[*to as usize].iter().find(|(node, _)| *node == from);
                let back = back.map_or(0.0, |(_, weight)| *weight);
                weights[from as usize][*to as usize] = weight.min(back);
            }
        }
        Self {
            nodes: (0..count as u32).collect(),
            weights,
        }
    }

    /// The part with these of its nodes alone.
    fn only(&self, kept: &[usize]) -> Self {
        let row = |at: &usize| kept.iter().map(|to| self.weights[*at][*to]).collect();
        Self {
            nodes: kept.iter().map(|at| self.nodes[*at]).collect(),
            weights: kept.iter().map(row).collect(),
        }
    }

    /// The cut of least weight, as one of its sides (Stoer and Wagner).
    fn least_cut(&self) -> (f64, Vec<usize>) {
        let mut weights = self.weights.clone();
        let mut merged: Vec<Vec<usize>> = (0..self.nodes.len()).map(|at| vec![at]).collect();
        let mut left: Vec<usize> = (0..self.nodes.len()).collect();
        let mut least = (f64::INFINITY, Vec::new());
        while left.len() > 1 {
            let mut to_added = vec![0.0f64; weights.len()];
            let mut order = Vec::new();
            let mut waiting = left.clone();
            while !waiting.is_empty() {
                let nearest = (0..waiting.len())
                    .max_by(|a, b| to_added[waiting[*a]].total_cmp(&to_added[waiting[*b]]));
                let next = waiting.swap_remove(nearest.expect("it is not empty"));
                order.push(next);
                for at in &waiting {
                    to_added[*at] += weights[next][*at];
                }
            }
            let (last, before) = (order[order.len() - 1], order[order.len() - 2]);
            if to_added[last] < least.0 {
                least = (to_added[last], merged[last].clone());
            }
            let of_last = std::mem::take(&mut merged[last]);
            merged[before].extend(of_last);
            left.retain(|at| *at != last);
            for at in &left {
                let both = weights[before][*at] + weights[last][*at];
                weights[before][*at] = both;
                weights[*at][before] = both;
            }
            weights[before][before] = 0.0;
        }
        least
    }

    fn diameter(&self) -> u32 {
        let farthest = |from: usize| {
            let mut steps = vec![None; self.nodes.len()];
            steps[from] = Some(0);
            let mut queue = std::collections::VecDeque::from([from]);
            while let Some(at) = queue.pop_front() {
                for to in 0..self.nodes.len() {
                    if steps[to].is_none() && self.weights[at][to] > 0.0 {
                        steps[to] = steps[at].map(|steps: u32| steps + 1);
                        queue.push_back(to);
                    }
                }
            }
            steps.into_iter().flatten().max().unwrap_or(0)
        };
        (0..self.nodes.len()).map(farthest).max().unwrap_or(0)
    }
}

/// Splits a graph into pieces that are connected for certain. Nodes that are in none are left out.
///
/// If the least cut of n nodes fails with probability n^-(2+d), some part of them is cut off with probability
/// n^-d (1 + 2/d) at most (Karger 1995, "A randomized fully polynomial time approximation scheme for the all-terminal
/// network reliability problem").
pub(crate) fn pieces(links: &Links) -> Vec<Piece> {
    let mut parts = vec![Part::new(links)];
    let mut pieces = Vec::new();
    while let Some(part) = parts.pop() {
        let enough = ENOUGH + 2.0 * (part.nodes.len() as f64).ln();
        let sums = part.weights.iter().map(|row| row.iter().sum::<f64>());
        let kept: Vec<_> = (0..).zip(sums).filter(|(_, sum)| *sum >= enough).collect();
        if kept.len() < 2 {
            continue;
        }
        if kept.len() < part.nodes.len() {
            let kept: Vec<_> = kept.into_iter().map(|(at, _)| at).collect();
            parts.push(part.only(&kept));
            continue;
        }
        let (weight, side) = part.least_cut();
        if weight >= enough {
            let diameter = part.diameter();
            pieces.push(Piece {
                nodes: part.nodes,
                diameter,
            });
            continue;
        }
        let is_in = |at: &usize| side.contains(at);
        let (one, other): (Vec<_>, Vec<_>) = (0..part.nodes.len()).partition(is_in);
        parts.extend([part.only(&one), part.only(&other)]);
    }
    pieces
}
