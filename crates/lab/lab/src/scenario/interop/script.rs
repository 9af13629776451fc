//! Instructions of a script, executed for all nodes at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use undertone_settings::nearest;

use super::error::shortened;
use super::{InteropError, parameters};

/// Maximum number of instructions; a script for a thousand nodes has about three thousand.
const INSTRUCTIONS_MAX: usize = 1_000_000;
/// Maximum number of nodes.
const NODES_MAX: u64 = 100_000;
/// Maximum nesting depth of instructions.
const DEPTH_MAX: usize = 8;
/// Maximum number of messages; one instruction can make every node publish one.
const MESSAGES_MAX: usize = 1_000_000;

const KINDS: [&str; 9] = [
    "connect",
    "ifNodeIDEquals",
    "waitUntil",
    "publish",
    "subscribeToTopic",
    "setTopicValidationDelay",
    "initGossipSub",
    "addPartialMessage",
    "publishPartial",
];

/// One message that a node publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScriptMessage {
    pub(super) at_s: u64,
    pub(super) node: u32,
    pub(super) bytes: u64,
    /// Index of the topic in [`Script::topics`].
    pub(super) topic: usize,
}

/// Nodes with the same parameters and topics.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ScriptGroup {
    pub(super) members: Vec<u32>,
    /// Keys of `[relay]`.
    pub(super) relay: Map<String, Value>,
    /// Indices of the topics in [`Script::topics`].
    pub(super) topics: Vec<usize>,
}

/// Content of a script.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) nodes: u32,
    /// Keys of `[relay]`.
    pub(super) relay: Map<String, Value>,
    /// Nodes that differ in their parameters, or that do not subscribe to all topics.
    pub(super) groups: Vec<ScriptGroup>,
    /// Time over which the first heartbeats are spread, seconds.
    pub(super) start_spread_s: f64,
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) topics: Vec<String>,
    pub(super) validation_s: f64,
    pub(super) messages: Vec<ScriptMessage>,
    /// Time until which the script waits, seconds.
    pub(super) end_s: u64,
}

impl Script {
    /// Reads all instructions.
    pub(super) fn read(content: &Value) -> Result<Self, InteropError> {
        let script = &content["script"];
        let instructions = script.as_array();
        let instructions =
            instructions.ok_or_else(|| bad("script", script, "a list of instructions"))?;
        at_most(
            "script",
            instructions.len(),
            "instructions",
            INSTRUCTIONS_MAX,
        )?;
        let mut reader = ScriptReader::default();
        for (number, instruction) in instructions.iter().enumerate() {
            reader.count(&format!("script[{number}]"), instruction, DEPTH_MAX)?;
        }
        if reader.script.nodes < 2 {
            return Err(InteropError::Nothing {
                what: "two nodes",
                remedy: "nodes are those that ifNodeIDEquals and connect name",
            });
        }
        for (number, instruction) in instructions.iter().enumerate() {
            reader.follow(&format!("script[{number}]"), instruction, None)?;
        }
        reader.finish()
    }
}

/// State of a script while its instructions are read.
#[derive(Debug, Default)]
struct ScriptReader {
    script: Script,
    /// Parameters of the router.
    relay: Map<String, Value>,
    /// Those that single nodes have instead.
    own_relay: BTreeMap<u32, Map<String, Value>>,
    delays_ms: Vec<f64>,
    pairs: BTreeSet<(u32, u32)>,
    /// Nodes that subscribe to each topic; `None` stands for all.
    subscribers: BTreeMap<String, Option<BTreeSet<u32>>>,
    publications: Vec<(ScriptMessage, String, String)>,
    /// Time until which all nodes have waited, and time until which single nodes have, seconds.
    now_s: u64,
    own_s: BTreeMap<u32, u64>,
    validation: Option<(String, f64)>,
}

impl ScriptReader {
    /// Raises the number of nodes to cover those that an instruction names, and checks its nesting
    /// depth.
    fn count(&mut self, place: &str, at: &Value, depth: usize) -> Result<(), InteropError> {
        at_most(
            place,
            DEPTH_MAX - depth + 1,
            "instructions within one another",
            DEPTH_MAX,
        )?;
        match kind(place, at)? {
            "ifNodeIDEquals" => {
                self.knows(whole(place, at, "nodeID", NODES_MAX - 1)?);
                self.count(
                    &format!("{place}.instruction"),
                    &at["instruction"],
                    depth - 1,
                )
            }
            "connect" => {
                for node in nodes(place, at)? {
                    self.knows(node.into());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn knows(&mut self, node: u64) {
        self.script.nodes = self.script.nodes.max(node as u32 + 1);
    }

    /// Executes an instruction for one node, or for all of them.
    fn follow(&mut self, place: &str, at: &Value, node: Option<u32>) -> Result<(), InteropError> {
        match kind(place, at)? {
            "ifNodeIDEquals" => {
                let only = whole(place, at, "nodeID", NODES_MAX - 1)? as u32;
                if node.is_some_and(|node| node != only) {
                    return Ok(());
                }
                let below = format!("{place}.instruction");
                self.follow(&below, &at["instruction"], Some(only))
            }
            "initGossipSub" => self.init(place, at, node),
            "connect" => self.connect(place, at, node),
            "waitUntil" => {
                let until_s = whole(place, at, "elapsedSeconds", u32::MAX.into())?;
                let waited = match node {
                    Some(node) => self.own_s.entry(node).or_default(),
                    None => &mut self.now_s,
                };
                *waited = until_s.max(*waited);
                self.script.end_s = self.script.end_s.max(until_s);
                Ok(())
            }
            "subscribeToTopic" => self.subscribe(place, at, node),
            "setTopicValidationDelay" => self.delay_validation(place, at, node),
            "publish" => self.publish(place, at, node),
            _ => Err(partial(place)),
        }
    }

    fn init(&mut self, place: &str, at: &Value, node: Option<u32>) -> Result<(), InteropError> {
        let place = format!("{place}.gossipSubParams");
        let given = &at["gossipSubParams"];
        let given = given
            .as_object()
            .ok_or_else(|| bad(&place, given, "an object"))?;
        let (relay, delay_ms) = parameters::read(&place, given)?;
        self.delays_ms.extend(delay_ms);
        match node {
            Some(node) => {
                self.own_relay.insert(node, relay);
            }
            None => {
                self.relay = relay;
                self.own_relay.clear();
            }
        }
        Ok(())
    }

    fn connect(&mut self, place: &str, at: &Value, node: Option<u32>) -> Result<(), InteropError> {
        if self.time_s(node) > 0 {
            return Err(InteropError::NotSimulated {
                place: place.to_owned(),
                what: "a connection after a waitUntil",
                remedy: "connect before the first wait",
            });
        }
        for to in nodes(place, at)? {
            for from in self.all(node) {
                if from == to && node.is_some() {
                    let value = &at["connectTo"];
                    return Err(bad(
                        &format!("{place}.connectTo"),
                        value,
                        "other nodes than its own",
                    ));
                }
                if from != to && self.pairs.insert((from.min(to), from.max(to))) {
                    self.script.edges.push((from, to));
                }
            }
        }
        Ok(())
    }

    fn subscribe(
        &mut self,
        place: &str,
        at: &Value,
        node: Option<u32>,
    ) -> Result<(), InteropError> {
        if at["partial"] == Value::Bool(true) {
            return Err(partial(place));
        }
        let topic = text(place, at, "topicID")?;
        let known = self
            .subscribers
            .entry(topic)
            .or_insert_with(|| Some(BTreeSet::new()));
        match (node, &mut *known) {
            (Some(node), Some(nodes)) => {
                nodes.insert(node);
            }
            (None, known) => *known = None,
            (Some(_), None) => {}
        }
        Ok(())
    }

    fn delay_validation(
        &mut self,
        place: &str,
        at: &Value,
        node: Option<u32>,
    ) -> Result<(), InteropError> {
        let place = format!("{place}.delaySeconds");
        let given = &at["delaySeconds"];
        let seconds = given
            .as_f64()
            .filter(|seconds| (0.0..=3600.0).contains(seconds));
        let seconds = seconds.ok_or_else(|| bad(&place, given, "seconds, 0 to 3600"))?;
        let first = self.validation.get_or_insert((place.clone(), seconds));
        if first.1 != seconds {
            let expected = format!("{}, as in {}: it holds for all topics", first.1, first.0);
            return Err(bad(&place, given, &expected));
        }
        if node.is_some() && self.script.nodes > 1 {
            return Err(InteropError::NotSimulated {
                place,
                what: "a validation delay of single nodes",
                remedy: "set it for all of them, without ifNodeIDEquals",
            });
        }
        self.script.validation_s = seconds;
        Ok(())
    }

    fn publish(&mut self, place: &str, at: &Value, node: Option<u32>) -> Result<(), InteropError> {
        let bytes = whole(place, at, "messageSizeBytes", 64 << 20)?;
        let topic = text(place, at, "topicID")?;
        for node in self.all(node) {
            let message = ScriptMessage {
                at_s: self.time_s(Some(node)),
                node,
                bytes,
                topic: 0,
            };
            self.publications
                .push((message, topic.clone(), place.to_owned()));
        }
        at_most(place, self.publications.len(), "messages", MESSAGES_MAX)
    }

    /// Divides the nodes by their parameters and topics. The largest group that has all topics needs no table of its
    /// own.
    fn divide(&mut self) {
        let mut groups: BTreeMap<(String, Vec<usize>), ScriptGroup> = BTreeMap::new();
        for node in 0..self.script.nodes {
            let relay = self.own_relay.get(&node).unwrap_or(&self.relay);
            let joins =
                |nodes: &Option<BTreeSet<u32>>| nodes.as_ref().is_none_or(|n| n.contains(&node));
            let topics = self
                .subscribers
                .values()
                .enumerate()
                .filter(|(_, nodes)| joins(nodes));
            let topics: Vec<usize> = topics.map(|(topic, _)| topic).collect();
            let text = Value::Object(relay.clone()).to_string();
            let group = groups.entry((text, topics.clone()));
            let group = group.or_insert_with(|| ScriptGroup {
                members: Vec::new(),
                relay: relay.clone(),
                topics,
            });
            group.members.push(node);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        let all = self.script.topics.len();
        let whole = groups.iter().position(|group| group.topics.len() == all);
        self.script.relay = match whole {
            Some(whole) => groups.remove(whole).relay,
            None => self.relay.clone(),
        };
        self.script.groups = groups;
    }

    fn all(&self, node: Option<u32>) -> std::ops::Range<u32> {
        node.map_or(0..self.script.nodes, |node| node..node + 1)
    }

    fn time_s(&self, node: Option<u32>) -> u64 {
        let own_s = node.and_then(|node| self.own_s.get(&node));
        self.now_s.max(own_s.copied().unwrap_or(0))
    }

    fn finish(mut self) -> Result<Script, InteropError> {
        self.script.topics = self.subscribers.keys().cloned().collect();
        self.divide();
        for (mut message, topic, place) in self.publications {
            let found = self.script.topics.iter().position(|known| *known == topic);
            message.topic = found.ok_or_else(|| InteropError::Unknown {
                place: format!("{place}.topicID"),
                nearest: nearest(&topic, self.script.topics.iter().map(String::as_str)),
                word: topic,
            })?;
            self.script.messages.push(message);
        }
        if self.script.messages.is_empty() {
            return Err(InteropError::Nothing {
                what: "messages",
                remedy: "an instruction publish adds one",
            });
        }
        let least_ms = self.delays_ms.iter().copied().fold(f64::INFINITY, f64::min);
        let most_ms = self.delays_ms.iter().copied().fold(0.0, f64::max);
        if least_ms.is_finite() {
            let key = "heartbeat_delay_ms".to_owned();
            for group in &mut self.script.groups {
                group.relay.insert(key.clone(), least_ms.into());
            }
            self.script.relay.insert(key, least_ms.into());
            self.script.start_spread_s = (most_ms - least_ms) / 1e3;
        }
        Ok(self.script)
    }
}

fn kind<'a>(place: &str, at: &'a Value) -> Result<&'a str, InteropError> {
    let given = &at["type"];
    let place = format!("{place}.type");
    let kind = given
        .as_str()
        .ok_or_else(|| bad(&place, given, "the kind of an instruction"))?;
    match KINDS.contains(&kind) {
        true => Ok(kind),
        false => Err(InteropError::Unknown {
            place,
            word: kind.to_owned(),
            nearest: nearest(kind, KINDS.into_iter()),
        }),
    }
}

fn nodes(place: &str, at: &Value) -> Result<Vec<u32>, InteropError> {
    let place = format!("{place}.connectTo");
    let given = &at["connectTo"];
    let expected = format!("a list of numbers of nodes, below {NODES_MAX}");
    let items = given
        .as_array()
        .ok_or_else(|| bad(&place, given, &expected))?;
    let node = |item: &Value| item.as_u64().filter(|node| *node < NODES_MAX);
    let node = |item| node(item).ok_or_else(|| bad(&place, item, &expected));
    items.iter().map(|item| Ok(node(item)? as u32)).collect()
}

fn whole(place: &str, at: &Value, key: &str, max: u64) -> Result<u64, InteropError> {
    let value = at[key].as_u64().filter(|value| *value <= max);
    let expected = format!("a whole number, 0 to {max}");
    value.ok_or_else(|| bad(&format!("{place}.{key}"), &at[key], &expected))
}

fn text(place: &str, at: &Value, key: &str) -> Result<String, InteropError> {
    let value = at[key].as_str().map(str::to_owned);
    value.ok_or_else(|| bad(&format!("{place}.{key}"), &at[key], "a text"))
}

fn partial(place: &str) -> InteropError {
    InteropError::NotSimulated {
        place: place.to_owned(),
        what: "an extension for partial messages",
        remedy: "scenarios of whole messages can be: subnet-blob-msg",
    }
}

fn at_most(place: &str, count: usize, what: &'static str, max: usize) -> Result<(), InteropError> {
    match count <= max {
        true => Ok(()),
        false => Err(InteropError::TooMany {
            place: place.to_owned(),
            count,
            what,
            max,
        }),
    }
}

fn bad(place: &str, value: &Value, expected: &str) -> InteropError {
    InteropError::Value {
        place: place.to_owned(),
        value: shortened(value),
        expected: expected.to_owned(),
    }
}
