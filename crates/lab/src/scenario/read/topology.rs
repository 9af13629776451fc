//! TreeReader of `[topology]`: the connections between the nodes.

use undertone_settings::{Error, MS, S, SectionKey, TomlEntry, keys};
use undertone_sim::scenario::{Churn, Dialling, Discovery, Topology};

pub(in crate::scenario) const DIALLING: &[(&str, Dialling)] = &[
    ("at-once", Dialling::AtOnce),
    ("one-by-one", Dialling::OneByOne),
];

/// Largest full mesh, nodes; connections are held in memory, so the size must be limited.
const MAX_FULL_MESH_NODES: u32 = 5_000;

#[derive(Clone, Copy)]
enum TopologyName {
    Dials,
    Regular,
    Line,
    Ring,
    Star,
    FullMesh,
    Edges,
    Discovery,
}

const NAMES: &[(&str, TopologyName)] = &[
    ("dials", TopologyName::Dials),
    ("regular", TopologyName::Regular),
    ("line", TopologyName::Line),
    ("ring", TopologyName::Ring),
    ("star", TopologyName::Star),
    ("full-mesh", TopologyName::FullMesh),
    ("edges", TopologyName::Edges),
    ("discovery", TopologyName::Discovery),
];

pub(super) fn read(topology: SectionKey<'_>, nodes: u32) -> Result<(Topology, Dialling), Error> {
    let section = topology.table()?;
    keys!(section => kind, dials, degree, edges, dialling, offered, answer_ms, cut_noticed_s, churn_per_minute, away_s,
          churn_from_s, churn_until_s);
    let others = u64::from(nodes) - 1;
    let topology = match kind.required_word(NAMES)? {
        TopologyName::Dials => {
            let expected = format!("connections that each node dials, 1 to {others}");
            let number = dials.whole(1, others)?;
            Topology::Dials(number.ok_or_else(|| dials.bad(expected))?)
        }
        TopologyName::Regular => Topology::Regular(read_degree(degree, nodes)?),
        TopologyName::Line => Topology::Line,
        TopologyName::Ring => Topology::Ring,
        TopologyName::Star => Topology::Star,
        TopologyName::FullMesh if nodes > MAX_FULL_MESH_NODES => {
            let expected = format!("another kind for more than {MAX_FULL_MESH_NODES} nodes");
            return Err(kind.bad(expected));
        }
        TopologyName::FullMesh => Topology::FullMesh,
        TopologyName::Edges => Topology::Edges(read_edges(edges, nodes)?),
        TopologyName::Discovery => {
            let mut found = Discovery::default();
            found.offered = offered.whole(1, 100)?.unwrap_or(found.offered);
            found.answer_ns = answer_ms.time(MS)?.unwrap_or(found.answer_ns);
            let noticed_ns = cut_noticed_s.time(S)?;
            found.cut_noticed_after_ns = noticed_ns.unwrap_or(found.cut_noticed_after_ns);
            if let Some(share_per_minute) = churn_per_minute.number(0.0, 1.0)? {
                let required = |key: SectionKey<'_>| {
                    let time = key.time(S)?;
                    time.ok_or_else(|| key.bad("seconds, with topology.churn_per_minute"))
                };
                found.churn = Some(Churn {
                    share_per_minute,
                    away_ns: required(away_s)?,
                    from_ns: required(churn_from_s)?,
                    until_ns: required(churn_until_s)?,
                });
            }
            Topology::Discovery(found)
        }
    };
    let dialling = match topology {
        // The connection managers decide.
        Topology::Discovery(_) => None,
        _ => dialling.word(DIALLING)?,
    };
    section.check_all_read("another topology.kind would use it")?;
    Ok((topology, dialling.unwrap_or(Dialling::AtOnce)))
}

fn read_degree(degree: SectionKey<'_>, nodes: u32) -> Result<u32, Error> {
    let others = u64::from(nodes) - 1;
    let expected = || format!("connections of each node, 1 to {others}");
    let number: u32 = degree
        .whole(1, others)?
        .ok_or_else(|| degree.bad(expected()))?;
    if u64::from(nodes) * u64::from(number) % 2 == 1 {
        let expected = format!("an even number, because nodes = {nodes} is odd");
        return Err(degree.bad(expected));
    }
    Ok(number)
}

fn read_edges(edges: SectionKey<'_>, nodes: u32) -> Result<Vec<(u32, u32)>, Error> {
    const EXPECTED: &str = "a list of [dialler, dialled] pairs";
    let items = edges.list(|| EXPECTED.to_owned())?;
    let items = items.ok_or_else(|| edges.bad(EXPECTED))?.iter();
    let pairs = items.map(|item| {
        edge(item, nodes).ok_or_else(|| {
            let last = nodes - 1;
            let expected = format!("two different nodes from 0 to {last}: [dialler, dialled]");
            edges.bad_item(item, expected)
        })
    });
    pairs.collect()
}

fn edge(item: &TomlEntry, nodes: u32) -> Option<(u32, u32)> {
    let node = |entry: &TomlEntry| {
        let node = u32::try_from(entry.as_whole()?).ok();
        node.filter(|node| *node < nodes)
    };
    match item.as_list()? {
        [from, to] => Some((node(from)?, node(to)?)).filter(|(from, to)| from != to),
        _ => None,
    }
}
