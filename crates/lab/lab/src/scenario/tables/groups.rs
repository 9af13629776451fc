//! `[[groups]]`: nodes that differ from the rest of the network.

use undertone_settings::{Error, MS, SectionKey, TomlEntry, keys};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Cpu, Group, Members};

use super::key::{FieldKey, Key, Table, fields};
use super::places::rate;
use super::values::{count, list, text};
use super::{CPU, policy, relay};
use crate::scenario::error::ScenarioError;

/// Maximum number of adversaries in a group.
const IDENTITIES_MAX: u32 = 1_000_000;

const GROUP: &[FieldKey<Group>] = fields![
    time(MS): added_delay_ms = added_delay_ns;
    number(0.0, 1.0): added_loss;
    flag(): accepts_connections;
];

/// Reads or writes the groups, after all other tables.
pub(super) fn groups(key: Key<'_>, scenario: &mut Scenario) -> Result<(), ScenarioError> {
    let mut groups = std::mem::take(&mut scenario.groups);
    let initial = Group::new("", Members::Count(0));
    key.each(&mut groups, &initial, |table, one| {
        group(table, one, scenario)
    })?;
    scenario.groups = groups;
    Ok(())
}

fn group(table: &Table<'_>, group: &mut Group, scenario: &Scenario) -> Result<(), ScenarioError> {
    keys!(table, GROUP => name, nodes, share, members, uplink_mbit_per_s, downlink_mbit_per_s, cpu, topics, relay, policy);
    let read = |key: SectionKey<'_>| Ok(key.text("a name, for reports")?.map(str::to_owned));
    let name = name.required("a name, for reports")?;
    name.both(&mut group.name, read, |name| Some(text(name.as_str())))?;
    policy::policy(policy, &mut group.policy, scenario.nodes)?;
    let most = match group.policy {
        Some(_) => IDENTITIES_MAX,
        None => scenario.nodes,
    };
    read_members(
        &mut group.members,
        (nodes, share, members),
        (scenario.nodes, most),
    )?;
    table.fill(GROUP, group)?;
    for (key, own) in [
        (uplink_mbit_per_s, &mut group.uplink_bytes_per_s),
        (downlink_mbit_per_s, &mut group.downlink_bytes_per_s),
    ] {
        key.some(own, 0, rate)?;
    }
    cpu.some(&mut group.cpu, Cpu::default(), |key, own| {
        key.fields(CPU, own)
    })?;
    let last = scenario.relay.topics.saturating_sub(1);
    let expected = format!("a list of topics, 0 to {last}; empty for nodes that only publish");
    topics.some(&mut group.topics, Vec::new(), |key, own| {
        numbers(key, last, &expected, own)
    })?;
    relay::group_relay(relay, &scenario.relay, &mut group.relay)?;
    Ok(table.check_all_read("another key says which nodes the group has")?)
}

/// Reads or writes one of the keys `nodes`, `share` and `members`. A share is written as a number of nodes.
fn read_members(
    of_group: &mut Members,
    (nodes, share, members): (Key<'_>, Key<'_>, Key<'_>),
    (all, most): (u32, u32),
) -> Result<(), Error> {
    let last = all - 1;
    if members.is_set() {
        *of_group = Members::Listed(Vec::new());
    }
    match of_group {
        Members::Listed(listed) => {
            let expected = format!("a list of nodes, 0 to {last}");
            numbers(members, last, &expected, listed)?;
            listed.sort_unstable();
        }
        Members::Count(count) if share.is_set() => {
            let mut part = 0.0;
            share.number(0.0, f64::from(most) / f64::from(all), &mut part)?;
            *count = (f64::from(all) * part).round() as u32;
        }
        Members::Count(count) => {
            let expected = format!("a number of nodes, 1 to {most}, or share or members instead");
            nodes.required(expected)?.whole(1, most.into(), count)?;
        }
    }
    Ok(())
}

/// Reads or writes a list of whole numbers, 0 to `last`.
pub(super) fn numbers(
    key: Key<'_>,
    last: u32,
    expected: &str,
    all: &mut Vec<u32>,
) -> Result<(), Error> {
    let number = |item: &TomlEntry| u32::try_from(item.as_whole()?).ok().filter(|n| *n <= last);
    let read = |key: SectionKey<'_>| {
        let items = key.list(|| expected.to_owned())?.into_iter().flatten();
        let numbers = items.map(|item| number(item).ok_or_else(|| key.bad_item(item, expected)));
        numbers.collect::<Result<_, _>>().map(Some)
    };
    key.both(all, read, |all| Some(list(all.iter().copied().map(count))))
}
