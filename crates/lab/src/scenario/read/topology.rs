//! Reader of `[topology]`: the connections between the nodes.

use undertone_sim::scenario::{Dialling, Topology};

use super::super::ScenarioError;
use super::super::section::Section;
use super::super::tree::{Entry, Value};

const KEYS: &[&str] = &["kind", "dials", "degree", "edges", "dialling"];

const DIALLING: &[(&str, Dialling)] = &[
    ("at-once", Dialling::AtOnce),
    ("one-by-one", Dialling::OneByOne),
];

/// Largest full mesh, nodes; connections are held in memory, so the size must be limited.
const MAX_FULL_MESH_NODES: u32 = 5_000;

#[derive(Clone, Copy)]
enum Kind {
    Dials,
    Regular,
    Line,
    Ring,
    Star,
    FullMesh,
    Edges,
}

const KINDS: &[(&str, Kind)] = &[
    ("dials", Kind::Dials),
    ("regular", Kind::Regular),
    ("line", Kind::Line),
    ("ring", Kind::Ring),
    ("star", Kind::Star),
    ("full-mesh", Kind::FullMesh),
    ("edges", Kind::Edges),
];

pub(super) fn read(root: &Section<'_>, nodes: u32) -> Result<(Topology, Dialling), ScenarioError> {
    let section = root.below("topology", KEYS)?;
    let kind = section.word("kind", KINDS)?.ok_or_else(|| {
        let kinds: Vec<_> = KINDS.iter().map(|(kind, _)| *kind).collect();
        section.bad("kind", format!("one of {}", kinds.join(", ")))
    })?;
    let others = u64::from(nodes) - 1;
    let topology = match kind {
        Kind::Dials => {
            let expected = format!("connections that each node dials, 1 to {others}");
            let dials = section.whole("dials", 1, others)?;
            Topology::Dials(dials.ok_or_else(|| section.bad("dials", expected))?)
        }
        Kind::Regular => Topology::Regular(degree(&section, nodes)?),
        Kind::Line => Topology::Line,
        Kind::Ring => Topology::Ring,
        Kind::Star => Topology::Star,
        Kind::FullMesh if nodes > MAX_FULL_MESH_NODES => {
            let expected = format!("another kind for more than {MAX_FULL_MESH_NODES} nodes");
            return Err(section.bad("kind", expected));
        }
        Kind::FullMesh => Topology::FullMesh,
        Kind::Edges => Topology::Edges(edges(&section, nodes)?),
    };
    let dialling = section.word("dialling", DIALLING)?;
    section.check_all_read("another topology.kind would use it")?;
    Ok((topology, dialling.unwrap_or(Dialling::AtOnce)))
}

fn degree(section: &Section<'_>, nodes: u32) -> Result<u32, ScenarioError> {
    let others = u64::from(nodes) - 1;
    let expected = || format!("connections of each node, 1 to {others}");
    let degree: u32 = section
        .whole("degree", 1, others)?
        .ok_or_else(|| section.bad("degree", expected()))?;
    if u64::from(nodes) * u64::from(degree) % 2 == 1 {
        let expected = format!("an even number, because nodes = {nodes} is odd");
        return Err(section.bad("degree", expected));
    }
    Ok(degree)
}

fn edges(section: &Section<'_>, nodes: u32) -> Result<Vec<(u32, u32)>, ScenarioError> {
    const EXPECTED: &str = "a list of [dialler, dialled] pairs";
    let Some(Value::List(items)) = section.get("edges").map(|entry| &entry.value) else {
        return Err(section.bad("edges", EXPECTED));
    };
    items
        .iter()
        .map(|item| {
            edge(item, nodes).ok_or_else(|| {
                let last = nodes - 1;
                let expected = format!("two different nodes from 0 to {last}: [dialler, dialled]");
                section.bad_entry("edges", item, expected)
            })
        })
        .collect()
}

fn edge(item: &Entry, nodes: u32) -> Option<(u32, u32)> {
    let Value::List(ends) = &item.value else {
        return None;
    };
    let node = |entry: &Entry| match entry.value {
        Value::Integer(node) => u32::try_from(node).ok().filter(|node| *node < nodes),
        _ => None,
    };
    match ends.as_slice() {
        [from, to] => Some((node(from)?, node(to)?)).filter(|(from, to)| from != to),
        _ => None,
    }
}
