//! What the nodes' logs say: whom they dialled, and what they complained of.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::report::median;
use super::world::World;

const DAY_S: f64 = 86_400.0;

/// Message of the connection manager's driver when it dials.
const DIALLING: &str = ": dialling a peer that was found ";

/// Kinds of complaints in the table at most.
const KINDS_MAX: usize = 20;

/// Dial of the connection manager.
pub(crate) struct Dial {
    pub(crate) age_s: f64,
    pub(crate) addresses: Vec<Ipv4Addr>,
}

/// Dials in a log.
pub(crate) fn dials(log: &str) -> Vec<Dial> {
    let lines = log.lines().filter(|line| line.contains(DIALLING));
    lines
        .filter_map(|line| {
            Some(Dial {
                age_s: age_s(line)?,
                addresses: ips(line),
            })
        })
        .collect()
}

/// IP addresses of the multiaddresses in a text.
pub(crate) fn ips(text: &str) -> Vec<Ipv4Addr> {
    let parts = text.split("/ip4/").skip(1);
    parts
        .filter_map(|part| part.split('/').next()?.parse().ok())
        .collect()
}

/// Age of a line, `INF 2026-01-02T03:04:05.678901Z …`. All lines are younger than a day.
fn age_s(line: &str) -> Option<f64> {
    let (_, time) = line
        .split(' ')
        .nth(1)?
        .trim_end_matches('Z')
        .split_once('T')?;
    let mut parts = time.split(':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let then = (hours * 60.0 + minutes) * 60.0 + seconds;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some((now.as_secs_f64() % DAY_S - then).rem_euclid(DAY_S))
}

/// Last phase: complaints in all logs, and the memory of the processes that run.
pub(crate) fn phase(world: &mut World) {
    world.report.say("\n5. Logs and memory");
    let living = world
        .nodes
        .iter()
        .map(|node| (node.view.name.clone(), node.view.log()));
    let logs: Vec<_> = living.chain(world.logs.iter().cloned()).collect();
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (name, log) in &logs {
        let bad = |line: &&str| line.starts_with("WRN ") || line.starts_with("ERR ");
        for line in log.lines().filter(bad) {
            let kind = kinds
                .entry(kind_of(line))
                .or_insert_with(|| (0, name.clone()));
            kind.0 += 1;
        }
    }
    let mut rows: Vec<_> = kinds.into_iter().collect();
    rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let total: usize = rows.iter().map(|(_, (count, _))| count).sum();
    let rows = rows.into_iter().take(KINDS_MAX);
    let rows: Vec<_> = rows
        .map(|(kind, (count, first))| vec![json!(count), json!(kind), json!(first)])
        .collect();
    let title = format!(
        "Lines of level error or warn in {} logs: {total}",
        logs.len()
    );
    world
        .report
        .table("complaints", &title, &["lines", "what", "first in"], &rows);
    memory(world);
}

/// Level, target and words of a line, without values.
fn kind_of(line: &str) -> String {
    let words = line.split(' ').enumerate();
    let words = words.filter(|(at, word)| *at != 1 && !word.contains('='));
    let words: Vec<_> = words.map(|(_, word)| word).take(16).collect();
    words.join(" ")
}

fn memory(world: &mut World) {
    let mut resident: Vec<u64> = Vec::new();
    let mut rows = Vec::new();
    for node in &world.nodes {
        let Some((now_kib, peak_kib)) = node.memory_kib() else {
            continue;
        };
        resident.push(now_kib);
        let lived = node.listening.map(|since| since.elapsed().as_secs());
        rows.push(vec![
            json!(node.view.name),
            json!(lived),
            json!(now_kib / 1024),
            json!(peak_kib / 1024),
        ]);
    }
    resident.sort_unstable();
    let columns = ["node", "age, s", "resident, MiB", "peak, MiB"];
    let middle = median(&resident).unwrap_or_default() / 1024;
    let title = format!("Memory of the processes, median {middle} MiB (profile `dev`)");
    world.report.table("memory", &title, &columns, &rows);
}
