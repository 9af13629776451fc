//! A network graph in the GML dialect of the Shadow simulator: nodes with `host_bandwidth_up` and
//! `host_bandwidth_down`, edges with `latency` and `packet_loss`.
//!
//! Delays between places without a common edge are those of the shortest path, as in Shadow. Hosts are
//! assigned to the places in turn. Losses along a path combine as independent probabilities.

mod error;
mod tokens;

use error::GmlErrorAt;
use tokens::{GmlField, GmlItem};

pub use error::GmlError;
pub(super) use error::MAX_PLACES;

/// A graph in the form that the simulator needs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GmlGraph {
    /// One-way delays, `[from][to]`, nanoseconds.
    pub(super) one_way_ns: Vec<Vec<u64>>,
    /// Uplink rate of each place where it states one, bytes per second.
    pub(super) uplink_bytes_per_s: Vec<Option<u64>>,
    /// Downlink rate of each place where it states one, bytes per second.
    pub(super) downlink_bytes_per_s: Vec<Option<u64>>,
    /// Probability that a packet is lost, `[from][to]`.
    pub(super) loss: Vec<Vec<f64>>,
}

struct Edge {
    ends: [usize; 2],
    latency_ns: u64,
    loss: f64,
}

/// Reads a graph from its text.
pub(super) fn read(text: &str) -> Result<GmlGraph, GmlErrorAt> {
    let graph = tokens::read(text)?;
    let is_directed = graph.iter().any(
        |item| matches!(item, GmlItem::Field(field) if field.key == "directed" && field.value == "1"),
    );
    let blocks = |name: &'static str| {
        graph.iter().filter_map(move |item| match item {
            GmlItem::Block { key, line, fields } if key == name => Some(GmlBlock {
                name,
                line: *line,
                fields,
            }),
            _ => None,
        })
    };
    let nodes: Vec<GmlBlock<'_>> = blocks("node").collect();
    if !(1..=MAX_PLACES).contains(&nodes.len()) {
        return Err((1, GmlError::Places { found: nodes.len() }));
    }
    let ids = ids(&nodes)?;
    let edges = blocks("edge")
        .map(|edge| read_edge(&edge, &ids))
        .collect::<Result<Vec<_>, _>>()?;
    let (one_way_ns, loss) = shortest(&ids, &edges, is_directed)?;
    Ok(GmlGraph {
        one_way_ns,
        uplink_bytes_per_s: bandwidth(&nodes, "host_bandwidth_up")?,
        downlink_bytes_per_s: bandwidth(&nodes, "host_bandwidth_down")?,
        loss,
    })
}

/// A node or an edge.
struct GmlBlock<'a> {
    name: &'static str,
    line: usize,
    fields: &'a [GmlField],
}

impl GmlBlock<'_> {
    fn find(&self, key: &'static str) -> Option<&GmlField> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn need(&self, key: &'static str) -> Result<&GmlField, GmlErrorAt> {
        let block = self.name;
        self.find(key)
            .ok_or((self.line, GmlError::Missing { block, key }))
    }

    fn id(&self, key: &'static str) -> Result<(usize, i64), GmlErrorAt> {
        let field = self.need(key)?;
        let id = field
            .value
            .parse()
            .map_err(|_| bad(key, field, "a whole number"))?;
        Ok((field.line, id))
    }
}

fn bad(key: &'static str, field: &GmlField, expected: &'static str) -> GmlErrorAt {
    let value = field.value.clone();
    (
        field.line,
        GmlError::BadValue {
            key,
            value,
            expected,
        },
    )
}

fn ids(nodes: &[GmlBlock<'_>]) -> Result<Vec<i64>, GmlErrorAt> {
    let mut ids = Vec::with_capacity(nodes.len());
    for node in nodes {
        let (line, id) = node.id("id")?;
        if ids.contains(&id) {
            let problem = "exists twice";
            return Err((line, GmlError::Node { id, problem }));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn read_edge(edge: &GmlBlock<'_>, ids: &[i64]) -> Result<Edge, GmlErrorAt> {
    let end = |key| {
        let (line, id) = edge.id(key)?;
        let problem = "does not exist";
        ids.iter()
            .position(|known| *known == id)
            .ok_or((line, GmlError::Node { id, problem }))
    };
    let latency = edge.need("latency")?;
    let latency_ns = tokens::time_ns(&latency.value)
        .ok_or_else(|| bad("latency", latency, "a time above 0, such as \"75 ms\""))?;
    let loss = match edge.find("packet_loss") {
        None => 0.0,
        Some(field) => field
            .value
            .parse()
            .ok()
            .filter(|loss| (0.0..=1.0).contains(loss))
            .ok_or_else(|| bad("packet_loss", field, "a number from 0 to 1"))?,
    };
    Ok(Edge {
        ends: [end("source")?, end("target")?],
        latency_ns,
        loss,
    })
}

fn bandwidth(nodes: &[GmlBlock<'_>], key: &'static str) -> Result<Vec<Option<u64>>, GmlErrorAt> {
    let rate = |field: &GmlField| {
        tokens::bytes_per_s(&field.value)
            .ok_or_else(|| bad(key, field, "a rate, such as \"100 Mbit\""))
    };
    let rates = nodes
        .iter()
        .map(|node| node.find(key).map(rate).transpose());
    rates.collect()
}

/// Delays and losses between all pairs of places.
type ShortestPaths = (Vec<Vec<u64>>, Vec<Vec<f64>>);

/// Computes the delays along the shortest paths, and the losses along these paths. The path from a place
/// to itself is its own edge, as in Shadow.
fn shortest(ids: &[i64], edges: &[Edge], is_directed: bool) -> Result<ShortestPaths, GmlErrorAt> {
    const NO_PATH: u64 = u64::MAX;
    let places = ids.len();
    let mut delays = vec![vec![NO_PATH; places]; places];
    let mut losses = vec![vec![0.0; places]; places];
    for edge in edges {
        let [from, to] = edge.ends;
        let ways = [(from, to), (to, from)];
        for (from, to) in ways.into_iter().take(if is_directed { 1 } else { 2 }) {
            if edge.latency_ns < delays[from][to] {
                delays[from][to] = edge.latency_ns;
                losses[from][to] = edge.loss;
            }
        }
    }
    for via in 0..places {
        let (onwards, onward_losses) = (delays[via].clone(), losses[via].clone());
        for from in (0..places).filter(|from| *from != via) {
            let (there, loss) = (delays[from][via], losses[from][via]);
            for to in (0..places).filter(|to| *to != via && *to != from) {
                let through = there.saturating_add(onwards[to]);
                if through < delays[from][to] {
                    delays[from][to] = through;
                    losses[from][to] = 1.0 - (1.0 - loss) * (1.0 - onward_losses[to]);
                }
            }
        }
    }
    for (from, row) in delays.iter().enumerate() {
        if let Some(to) = row.iter().position(|delay| *delay == NO_PATH) {
            let (from, to) = (ids[from], ids[to]);
            return Err((1, GmlError::NoPath { from, to }));
        }
    }
    Ok((delays, losses))
}
