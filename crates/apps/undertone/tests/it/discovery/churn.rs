//! Churn: each minute a tenth of the nodes is killed, and as many new ones join by the record of a living one.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::node::Node;
use super::report::seconds;
use super::start::{SUMS, figures, missing, sums};
use super::world::{BOTH, Delivered, GROWN_S, Join, Sent, World, shards_text, watch};

/// Nodes that are killed and that join in a minute: a tenth of twenty.
pub(crate) const PER_MINUTE: usize = 2;

const MINUTE: Duration = Duration::from_secs(60);

/// Seconds of a minute in which messages may be published, from its begin.
const PUBLISH_S: usize = 45;

/// Nodes die and join for some minutes, while messages are sent.
pub(crate) fn phase(world: &mut World, minutes: usize) {
    world.report.say(&format!(
        "\n3. Churn for {minutes} minutes, {PER_MINUTE} nodes of 20 in each"
    ));
    // Messages are owed to nodes that have lived for so long.
    let grown = Duration::from_secs(GROWN_S);
    let youngest = world.nodes.iter().filter_map(|node| node.listening).max();
    let from = youngest.map_or_else(Instant::now, |since| since + grown);
    thread::sleep(from.saturating_duration_since(Instant::now()));
    let mut joins = Vec::new();
    let mut rows = Vec::new();
    let mut all = Delivered::default();
    for minute in 1..=minutes {
        let end = Instant::now() + MINUTE;
        let (killed, joined) = exchange(world, &mut joins);
        let after = Duration::from_secs(world.below(PUBLISH_S) as u64);
        thread::sleep((end - MINUTE + after).saturating_duration_since(Instant::now()));
        let sent = BOTH.iter().map(|shard| {
            let place = world.any_grown(*shard);
            world.publish(place, *shard)
        });
        let sent: Vec<_> = sent.collect();
        let is_grown = |node: &Node, message: &Sent| node.has_lived(GROWN_S, message.at);
        let delivered = world.collect(&sent, &is_grown);
        let young = world.delivered(&sent, &|node: &Node, message: &Sent| {
            !is_grown(node, message)
        });
        missing(world, &format!("minute {minute} of churn"), &delivered);
        let mut row = vec![
            json!(minute),
            json!(killed),
            json!(joined),
            json!(after.as_secs()),
        ];
        row.extend(figures(&delivered));
        row.push(json!(format!(
            "{} / {}",
            young.latencies_ns.len(),
            young.expected
        )));
        let cells: Vec<_> = row.iter().map(Value::to_string).collect();
        world
            .report
            .say(&format!("minute {minute}: {}", cells.join(" ")));
        rows.push(row);
        all.expected += delivered.expected;
        all.latencies_ns.extend(delivered.latencies_ns);
        world.check();
        thread::sleep(end.saturating_duration_since(Instant::now()));
    }
    all.latencies_ns.sort_unstable();
    let mut total = vec![json!("all"), json!(""), json!(""), json!("")];
    total.extend(figures(&all));
    rows.push(total);
    let columns = [
        "minute",
        "killed",
        "joined",
        "messages after, s",
        "delivered / expected",
        "median, ms",
        "max, ms",
        "of those who lived less than 60 s",
    ];
    world.report.table(
        "churn",
        "Messages while nodes die and join",
        &columns,
        &rows,
    );
    newcomers(world, joins);
}

/// Kills nodes and starts as many on the same shards, each with the record of any node that lives.
fn exchange(world: &mut World, joins: &mut Vec<JoinHandle<Join>>) -> (String, String) {
    let (mut killed, mut joined) = (Vec::new(), Vec::new());
    let mut shards = Vec::new();
    for _ in 0..PER_MINUTE {
        let place = world.below(world.nodes.len());
        let node = world.kill(place);
        killed.push(node.view.name.clone());
        shards.push(node.view.shards);
    }
    for shards in shards {
        let teller = world.below(world.nodes.len());
        let record = world.nodes[teller].view.record().expect("it lives");
        let place = world.start(shards, Some(record.enr().to_base64()));
        joins.push(watch(&world.nodes[place].view));
        world.nodes[place].wait();
        joined.push(world.nodes[place].view.name.clone());
    }
    (killed.join(", "), joined.join(", "))
}

/// Tells how the new nodes joined.
fn newcomers(world: &mut World, joins: Vec<JoinHandle<Join>>) {
    let joins = joins.into_iter();
    let joins: Vec<_> = joins
        .map(|join| join.join().expect("watching does not panic"))
        .collect();
    let rows: Vec<_> = joins
        .iter()
        .map(|join| {
            vec![
                json!(join.name),
                json!(shards_text(join.shards)),
                seconds(join.first_peer),
                seconds(join.mesh),
            ]
        })
        .collect();
    let columns = ["node", "shards", "first peer, s", "mesh, s"];
    world.report.table(
        "newcomers",
        "New nodes: times since the node listens",
        &columns,
        &rows,
    );
    world
        .report
        .table("newcomers-sum", "New nodes together", &SUMS, &sums(&joins));
    for join in joins.iter().filter(|join| join.first_peer.is_none()) {
        world
            .report
            .goal(false, || format!("{} found no peer in its life", join.name));
    }
}
