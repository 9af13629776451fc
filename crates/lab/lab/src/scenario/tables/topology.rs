//! `[topology]`: the connections between the nodes.

use undertone_settings::{Error, MS, S, TomlEntry, keys};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Churn, Dialling, Discovery, Topology};

use super::key::{FieldKey, Key, Table, fields};
use super::values::{count, list};

const DIALLING: &[(&str, Dialling)] = &[
    ("at-once", Dialling::AtOnce),
    ("one-by-one", Dialling::OneByOne),
];

/// Maximum size of a full mesh, nodes; its connections must fit into memory.
const MAX_FULL_MESH_NODES: u32 = 5_000;

const DISCOVERY: &[FieldKey<Discovery>] = fields![
    whole(1, 100): offered;
    time(MS): answer_ms = answer_ns;
    time(S): cut_noticed_s = cut_noticed_after_ns;
];

pub(super) fn topology(table: &Table<'_>, scenario: &mut Scenario) -> Result<(), Error> {
    keys!(table, DISCOVERY => kind, dials, degree, edges, dialling, churn_per_minute, away_s, churn_from_s, churn_until_s);
    let kinds = [
        ("dials", Topology::Dials(0)),
        ("regular", Topology::Regular(0)),
        ("line", Topology::Line),
        ("ring", Topology::Ring),
        ("star", Topology::Star),
        ("full-mesh", Topology::FullMesh),
        ("edges", Topology::Edges(Vec::new())),
        ("discovery", Topology::Discovery(Discovery::default())),
    ];
    let kind = kind.required_word(&kinds)?;
    kind.variant(&kinds, &mut scenario.topology)?;
    let nodes = scenario.nodes;
    let others = u64::from(nodes) - 1;
    match &mut scenario.topology {
        Topology::Dials(number) => {
            let expected = format!("connections that each node dials, 1 to {others}");
            dials.required(expected)?.whole(1, others, number)?;
        }
        Topology::Regular(number) => {
            let expected = format!("connections of each node, 1 to {others}");
            degree.required(expected)?.whole(1, others, number)?;
            let is_odd = u64::from(nodes) * u64::from(*number) % 2 == 1;
            let expected = format!("an even number, because nodes = {nodes} is odd");
            degree.refuse_if(is_odd, expected)?;
        }
        Topology::Line | Topology::Ring | Topology::Star => {}
        Topology::FullMesh => {
            let expected = format!("another kind for more than {MAX_FULL_MESH_NODES} nodes");
            kind.refuse_if(nodes > MAX_FULL_MESH_NODES, expected)?;
        }
        Topology::Edges(pairs) => read_or_write_edges(edges, nodes, pairs)?,
        Topology::Discovery(found) => {
            table.fill(DISCOVERY, found)?;
            let initial = Churn {
                share_per_minute: 0.0,
                away_ns: 0,
                from_ns: 0,
                until_ns: 0,
            };
            churn_per_minute.some(&mut found.churn, initial, |key, churn| {
                key.number(0.0, 1.0, &mut churn.share_per_minute)?;
                let time = |key: Key<'_>, ns: &mut u64| {
                    let key = key.required("seconds, with topology.churn_per_minute")?;
                    key.time(S, ns)
                };
                time(away_s, &mut churn.away_ns)?;
                time(churn_from_s, &mut churn.from_ns)?;
                time(churn_until_s, &mut churn.until_ns)
            })?;
        }
    }
    // With discovery, the nodes' connection managers decide whom to dial.
    if scenario.topology.discovery().is_none() {
        dialling.word(DIALLING, &mut scenario.dialling)?;
    }
    table.check_all_read("another topology.kind would use it")
}

fn read_or_write_edges(key: Key<'_>, nodes: u32, edges: &mut Vec<(u32, u32)>) -> Result<(), Error> {
    const EXPECTED: &str = "a list of [dialler, dialled] pairs";
    let pair = |(from, to): &(u32, u32)| list([count(*from), count(*to)]);
    key.required(EXPECTED)?.both(
        edges,
        |key| {
            let items = key.list(|| EXPECTED.to_owned())?.into_iter().flatten();
            let pairs = items.map(|item| {
                edge(item, nodes).ok_or_else(|| {
                    let last = nodes - 1;
                    let expected =
                        format!("two different nodes from 0 to {last}: [dialler, dialled]");
                    key.bad_item(item, expected)
                })
            });
            pairs.collect::<Result<_, _>>().map(Some)
        },
        |edges| Some(list(edges.iter().map(pair))),
    )
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
