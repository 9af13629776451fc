//! First phases: the nodes find each other from one record, and live on without the node that it belongs to.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::node::Node;
use super::report::{median, millis, seconds};
use super::world::{BOTH, Delivered, FIRST, Join, ONE_WAY_MS, SECOND, World, shards_text, watch};

/// Goal of the start, from the moment at which a node listens: a mesh on each of its shards.
const FULL_MESH: Duration = Duration::from_secs(15);

/// Goals without delay, on loopback; how many nodes meet them here too is told: a first peer, and a mesh.
const LOOPBACK: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(10)];

/// Cluster of the stranger.
const OTHER_CLUSTER: u16 = 67;

/// Time for nodes to refuse the stranger that an operator connects to them.
const REFUSAL: Duration = Duration::from_secs(5);

/// Messages on each shard after the end of the first node, and the time between two.
const MESSAGES: usize = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// Starts the first node, the twenty that get its record, and the stranger; judges how they find each other.
pub(crate) fn phase(world: &mut World) {
    world.report.say(&format!(
        "1. Start: twenty nodes from the record of one more, one-way delay {ONE_WAY_MS} ms"
    ));
    let first = world.start(BOTH, None);
    world.nodes[first].wait();
    let record = world.nodes[first].view.record().expect("it has one");
    let record = record.enr().to_base64();
    let groups = [(FIRST, 8), (SECOND, 8), (BOTH, 4)];
    let mut watches = Vec::new();
    for (shards, count) in groups {
        for _ in 0..count {
            let place = world.start(shards, Some(record.clone()));
            watches.push(watch(&world.nodes[place].view));
        }
    }
    let mut stranger = world.start_stranger(OTHER_CLUSTER, Some(record));
    world.nodes.iter_mut().for_each(Node::wait);
    stranger.wait();
    let joins: Vec<_> = watches
        .into_iter()
        .map(|watch| watch.join().expect("watching does not panic"))
        .collect();
    let rows: Vec<_> = joins.iter().map(|join| row(world, join)).collect();
    let columns = [
        "node",
        "shards",
        "first peer, s",
        "mesh, s",
        "mesh on each shard",
    ];
    world
        .report
        .table("start", "Times since the node listens", &columns, &rows);
    world
        .report
        .table("start-sum", "Start together", &SUMS, &sums(&joins));
    for join in &joins {
        judge(world, join);
    }
    refuse(world, &stranger);
    world
        .logs
        .push(("stranger".to_owned(), stranger.view.log()));
}

fn row(world: &World, join: &Join) -> Vec<Value> {
    let node = world.nodes.iter().find(|node| node.view.name == join.name);
    let degrees = node.map(|node| {
        let shards = node.view.shards.iter();
        shards
            .map(|shard| node.view.mesh(*shard).len().to_string())
            .collect::<Vec<_>>()
            .join(", ")
    });
    vec![
        json!(join.name),
        json!(shards_text(join.shards)),
        seconds(join.first_peer),
        seconds(join.mesh),
        json!(degrees),
    ]
}

fn judge(world: &mut World, join: &Join) {
    let (name, shards) = (&join.name, shards_text(join.shards));
    for (what, time) in [("first peer", join.first_peer), ("mesh", join.mesh)] {
        world
            .report
            .goal(time.is_some_and(|after| after < FULL_MESH), || {
                format!("{name} (shards {shards}): {what} after {time:?}, goal {FULL_MESH:?}")
            });
    }
}

/// Rows that sum up times: number of nodes, median and maximum, and how many took no longer than a goal.
pub(crate) fn sums(joins: &[Join]) -> Vec<Vec<Value>> {
    let of = |what: &str, time: fn(&Join) -> Option<Duration>, goal: Duration| {
        let mut times: Vec<_> = joins.iter().filter_map(time).collect();
        times.sort_unstable();
        let met = times.iter().filter(|time| **time < goal).count();
        vec![
            json!(what),
            json!(times.len()),
            seconds(median(&times)),
            seconds(times.last().copied()),
            json!(format!("{met} in less than {} s", goal.as_secs())),
        ]
    };
    vec![
        of("first peer", |join| join.first_peer, LOOPBACK[0]),
        of("mesh", |join| join.mesh, LOOPBACK[1]),
    ]
}

/// Columns of [`sums`].
pub(crate) const SUMS: [&str; 5] = ["", "nodes", "median, s", "max, s", "goal on loopback"];

/// The stranger has found nobody, and is refused also where its operator connects it by hand.
fn refuse(world: &mut World, stranger: &Node) {
    let peers = |node: &Node| {
        BOTH.iter()
            .map(|shard| node.view.relays(*shard).len())
            .sum::<usize>()
    };
    let found = peers(stranger);
    let host = &world.nodes[1];
    let address = format!("/ip4/{}/tcp/60000/p2p/{}", host.address, host.peer_id);
    let status = stranger.view.post("/admin/v1/peers", &json!([address]));
    thread::sleep(REFUSAL);
    let left = stranger.view.connected().len();
    let seen = |node: &&Node| {
        let connected = node.view.connected();
        connected.iter().any(|at| at.ends_with(&stranger.peer_id))
    };
    let seen = world.nodes.iter().filter(seen).count();
    let columns = [
        "relay peers found",
        "dialled by hand, status",
        "connected 5 s later",
        "nodes that have it",
    ];
    let row = vec![json!(found), json!(status), json!(left), json!(seen)];
    world
        .report
        .table("stranger", "Node of another cluster", &columns, &[row]);
    world.report.goal(found == 0 && left == 0 && seen == 0, || {
        format!(
            "{} of another cluster has peers: {found}, {left}, {seen}",
            stranger.view.name
        )
    });
}

/// Kills the node whose record began everything, and sends messages.
pub(crate) fn without_the_first(world: &mut World) {
    world.report.say("\n2. The first node is killed");
    world.kill(0);
    let mut sent = Vec::new();
    for round in 0..MESSAGES {
        for shard in BOTH {
            let on = |place: &usize| world.nodes[*place].view.shards.contains(shard);
            let places: Vec<_> = (0..world.nodes.len()).filter(on).collect();
            let place = places[world.below(places.len())];
            sent.push(world.publish(place, *shard));
        }
        if round + 1 < MESSAGES {
            thread::sleep(PAUSE);
        }
    }
    let rows: Vec<_> = BOTH
        .iter()
        .map(|shard| {
            let delivered = world.collect(&sent, &|_, message| message.shard == *shard);
            missing(world, "after the first node's end", &delivered);
            let mut row = vec![json!(shard)];
            row.extend(figures(&delivered));
            row
        })
        .collect();
    let columns = ["shard", "delivered / expected", "median, ms", "max, ms"];
    world.report.table(
        "first-gone",
        "Messages after the end of the first node",
        &columns,
        &rows,
    );
    world.check();
}

/// Deliveries as cells: how many of how many, median and greatest latency.
pub(crate) fn figures(delivered: &Delivered) -> [Value; 3] {
    let latencies = &delivered.latencies_ns;
    [
        json!(format!("{} / {}", latencies.len(), delivered.expected)),
        millis(median(latencies)),
        millis(latencies.last().copied()),
    ]
}

/// Judges that nothing is missing.
pub(crate) fn missing(world: &mut World, when: &str, delivered: &Delivered) {
    for missing in &delivered.missing {
        world
            .report
            .goal(false, || format!("{when}: not delivered: {missing}"));
    }
}
