//! Addresses that change: of nodes that run on, and of one that starts again with its key and its data.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::logs::{self, Dial};
use super::node::{Node, NodeView};
use super::report::seconds;
use super::start::{figures, missing};
use super::world::{BOTH, FIRST, GROWN_S, MESH, SECOND, Sent, World, shards_text};

/// Time in which a node has to be found at its new address.
const FOUND: Duration = Duration::from_secs(120);

/// Time that the nodes are watched, long enough for dials in vain to become seldom.
const WATCHED: Duration = Duration::from_secs(180);

/// End of that time, in which dials to vacant addresses are counted.
const LAST_S: f64 = 60.0;

/// Dials of one node to one vacant address in the last minute: one after a failure, and one probe. After five failures
/// it waits for at least 60 s, and five are over before that minute.
const STALE_MAX: usize = 2;

const POLL: Duration = Duration::from_secs(1);

/// Time between two messages on each shard.
const MESSAGE_PAUSE: Duration = Duration::from_secs(5);

/// Messages of each shard that are sent at the end, when all have their meshes again.
const LAST_MESSAGES: usize = 3;

/// A node at a new address, with times since it got that address, or listened there.
struct Moved {
    view: NodeView,
    peer_id: String,
    how: &'static str,
    old: Ipv4Addr,
    new: Ipv4Addr,
    since: Instant,
    record: Option<Duration>,
    /// Others that have been connected with it at the new address.
    connected: BTreeSet<usize>,
    first: Option<Duration>,
    half: Option<Duration>,
    mesh: Option<Duration>,
}

/// Changes addresses, and watches who finds the nodes again.
pub(crate) fn phase(world: &mut World) {
    world
        .report
        .say("\n4. Three nodes get another address, a fourth one restarts at another");
    let mut moved: Vec<_> = [FIRST, SECOND, BOTH]
        .iter()
        .map(|shards| (place_of(world, shards, &[]), false))
        .collect();
    let taken: Vec<_> = moved.iter().map(|(place, _)| *place).collect();
    moved.push((place_of(world, FIRST, &taken), true));
    let mut moved: Vec<_> = moved
        .into_iter()
        .map(|(place, restarts)| readdress(world, place, restarts))
        .collect();
    let hosts: BTreeSet<_> = moved.iter().map(|moved| moved.view.host).collect();
    let begun = Instant::now();
    let mut sent = Vec::new();
    while begun.elapsed() < WATCHED {
        if begun.elapsed() >= MESSAGE_PAUSE * u32::try_from(sent.len() / BOTH.len()).expect("few") {
            for shard in BOTH {
                let place = loop {
                    let place = world.any_grown(*shard);
                    if !hosts.contains(&world.nodes[place].view.host) {
                        break place;
                    }
                };
                sent.push(world.publish(place, *shard));
            }
        }
        look(world, &mut moved);
        thread::sleep(POLL);
    }
    let stays = |node: &Node, message: &Sent| {
        !hosts.contains(&node.view.host) && node.has_lived(GROWN_S, message.at)
    };
    let stayed = world.collect(&sent, &stays);
    missing(world, "while addresses change", &stayed);
    tell(world, &moved, &sent);
    let mut row = vec![json!("to those that stayed, meanwhile")];
    row.extend(figures(&stayed));
    let mut rows = vec![row];
    rows.push(afterwards(world, &moved));
    let columns = ["messages", "delivered / expected", "median, ms", "max, ms"];
    world.report.table(
        "moved-messages",
        "Messages while addresses change",
        &columns,
        &rows,
    );
    stale(world);
    world.check();
}

/// Place of a node on exactly these shards that has lived for a minute.
fn place_of(world: &World, shards: &[u16], taken: &[usize]) -> usize {
    let now = Instant::now();
    let fits = |place: &usize| {
        let node = &world.nodes[*place];
        node.view.shards == shards && node.has_lived(GROWN_S, now) && !taken.contains(place)
    };
    (0..world.nodes.len())
        .find(fits)
        .expect("two minutes without churn leave grown nodes")
}

fn readdress(world: &mut World, place: usize, restarts: bool) -> Moved {
    if restarts {
        world.nodes[place].stop();
    }
    let old = world.nodes[place].address;
    let host = world.nodes[place].view.host;
    let new = world.testbed.hosts()[host]
        .readdress(old, 1)
        .expect("a host has 256 addresses");
    world.vacant.push(old);
    world.nodes[place].address = new;
    let mut since = Instant::now();
    if restarts {
        world.restart(place, new);
        world.nodes[place].wait();
        since = world.nodes[place].listening.unwrap_or(since);
    }
    let node = &world.nodes[place];
    Moved {
        view: node.view.clone(),
        peer_id: node.peer_id.clone(),
        how: if restarts { "restarted" } else { "running" },
        old,
        new,
        since,
        record: None,
        connected: BTreeSet::new(),
        first: None,
        half: None,
        mesh: None,
    }
}

/// Asks all nodes once what they know of those that moved.
fn look(world: &World, moved: &mut [Moved]) {
    let others: Vec<_> = world.nodes.iter().map(|node| &node.view).collect();
    let seen = others.iter().map(|other| {
        let meshes = other
            .shards
            .iter()
            .map(|shard| (*shard, other.mesh(*shard)));
        (other.host, other.connected(), meshes.collect::<Vec<_>>())
    });
    let seen: Vec<_> = seen.collect();
    for moved in moved {
        let since = moved.since;
        let is_there = |at: &String| {
            at.starts_with(&format!("/ip4/{}/", moved.new)) && at.ends_with(&moved.peer_id)
        };
        if moved.record.is_none() && names_new_address(moved) {
            moved.record = Some(since.elapsed());
        }
        for (host, connected, _) in &seen {
            if connected.iter().any(is_there) {
                moved.connected.insert(*host);
            }
        }
        let shares = |other: &&&NodeView| {
            other.host != moved.view.host
                && other
                    .shards
                    .iter()
                    .any(|shard| moved.view.shards.contains(shard))
        };
        let sharing = others.iter().filter(shares).count();
        if !moved.connected.is_empty() {
            moved.first.get_or_insert_with(|| since.elapsed());
        }
        if moved.connected.len() * 2 >= sharing {
            moved.half.get_or_insert_with(|| since.elapsed());
        }
        let in_meshes = |shard: &u16| {
            let meshes = seen.iter().flat_map(|(_, _, meshes)| meshes);
            let mut of_shard = meshes.filter(|(of, mesh)| of == shard && mesh.iter().any(is_there));
            of_shard.nth(MESH - 1).is_some()
        };
        if moved.view.shards.iter().all(in_meshes) {
            moved.mesh.get_or_insert_with(|| since.elapsed());
        }
    }
}

/// Whether the node's record names its new address and no other one.
fn names_new_address(moved: &Moved) -> bool {
    let Some(record) = moved.view.record() else {
        return false;
    };
    let is_new = |ip: &Ipv4Addr| *ip == moved.new;
    let named = logs::ips(
        &record
            .addresses()
            .iter()
            .map(ToString::to_string)
            .collect::<String>(),
    );
    !named.is_empty() && named.iter().all(is_new)
}

/// Tells and judges how the nodes were found again.
fn tell(world: &mut World, moved: &[Moved], sent: &[Sent]) {
    let mut rows = Vec::new();
    for moved in moved {
        let dialled = first_dial(world, moved);
        let heard = heard_again(moved, sent);
        rows.push(vec![
            json!(moved.view.name),
            json!(shards_text(moved.view.shards)),
            json!(moved.how),
            json!(format!("{} to {}", moved.old, moved.new)),
            seconds(moved.record),
            seconds(dialled),
            seconds(moved.first),
            seconds(moved.half),
            seconds(moved.mesh),
            seconds(heard),
        ]);
        let (name, new) = (&moved.view.name, moved.new);
        let still_names_it = names_new_address(moved);
        world.report.goal(still_names_it, || {
            format!("{name}: in the end its record does not name {new}")
        });
        for (what, time) in [
            ("its record names the new address", moved.record),
            ("another node is connected there", moved.first),
            ("its mesh is there again", moved.mesh),
            ("it gets all messages again", heard),
        ] {
            world
                .report
                .goal(time.is_some_and(|after| after <= FOUND), || {
                    format!("{name} at {new}: {what} after {time:?}, goal {FOUND:?}")
                });
        }
    }
    let columns = [
        "node",
        "shards",
        "was",
        "address",
        "record, s",
        "dialled there, s",
        "connected, s",
        "with half of its network, s",
        "mesh, s",
        "all messages from, s",
    ];
    world.report.table(
        "moved",
        "Times since the address changed, or the node listens there",
        &columns,
        &rows,
    );
}

/// Time after which another node first dialled it at the new address, as that node's log says.
fn first_dial(world: &World, moved: &Moved) -> Option<Duration> {
    let others = world
        .nodes
        .iter()
        .filter(|node| node.view.host != moved.view.host);
    let dials = others.flat_map(|node| logs::dials(&node.view.log()));
    let there = dials.filter(|dial| dial.addresses.contains(&moved.new));
    let ages = there.map(|dial| dial.age_s).reduce(f64::max)?;
    moved
        .since
        .elapsed()
        .checked_sub(Duration::from_secs_f64(ages))
}

/// Time after which the first message was sent from which on it got all.
fn heard_again(moved: &Moved, sent: &[Sent]) -> Option<Duration> {
    let owed = sent
        .iter()
        .filter(|message| moved.view.shards.contains(&message.shard));
    let owed: Vec<_> = owed.filter(|message| message.at >= moved.since).collect();
    let got = owed
        .iter()
        .rev()
        .take_while(|message| World::has(&moved.view, message));
    let first = got.last()?;
    Some(first.at.duration_since(moved.since))
}

/// Messages after all that, one of each shard from a node that moved: they are owed to everybody.
fn afterwards(world: &mut World, moved: &[Moved]) -> Vec<Value> {
    let mut sent = Vec::new();
    for round in 0..LAST_MESSAGES {
        for shard in BOTH {
            let from = moved
                .iter()
                .find(|moved| round == 0 && moved.view.shards.contains(shard));
            let place = from.and_then(|moved| {
                world
                    .nodes
                    .iter()
                    .position(|node| node.view.host == moved.view.host)
            });
            let place = place.unwrap_or_else(|| world.any_grown(*shard));
            sent.push(world.publish(place, *shard));
        }
        thread::sleep(POLL);
    }
    let delivered = world.collect(&sent, &|node, message| node.has_lived(GROWN_S, message.at));
    missing(world, "after addresses have changed", &delivered);
    let mut row = vec![json!("to all, afterwards")];
    row.extend(figures(&delivered));
    row
}

/// Counts the dials of the last minute to addresses where no node listens any more.
fn stale(world: &mut World) {
    let mut rows = Vec::new();
    let mut worst = Vec::new();
    for node in &world.nodes {
        let dials = logs::dials(&node.view.log());
        let last: Vec<&Dial> = dials.iter().filter(|dial| dial.age_s <= LAST_S).collect();
        let to = |vacant: &Ipv4Addr| {
            let dials = last.iter().filter(|dial| dial.addresses.contains(vacant));
            dials.count()
        };
        let counts: Vec<_> = world
            .vacant
            .iter()
            .map(|vacant| (to(vacant), *vacant))
            .collect();
        let (most, address) = counts
            .iter()
            .copied()
            .max()
            .unwrap_or((0, Ipv4Addr::UNSPECIFIED));
        let all: usize = counts.iter().map(|(count, _)| count).sum();
        if most > STALE_MAX {
            worst.push(format!(
                "{} dials {address}, where nobody is, {most} times a minute",
                node.view.name
            ));
        }
        rows.push(vec![
            json!(node.view.name),
            json!(last.len()),
            json!(all),
            json!(most),
        ]);
    }
    let columns = [
        "node",
        "dials",
        "to vacant addresses",
        "to one of them, at most",
    ];
    world
        .report
        .table("stale", "Dials in the last minute", &columns, &rows);
    for worst in worst {
        world.report.goal(false, || worst.clone());
    }
}
