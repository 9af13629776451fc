//! Validation of groups.

use std::collections::BTreeSet;

use crate::adversary;
use crate::error::SimError;
use crate::run::{check, check_in};
use crate::scenario::{Members, Scenario};

pub(super) fn validate(scenario: &Scenario) -> Result<(), SimError> {
    let (mut names, mut listed) = (BTreeSet::new(), BTreeSet::new());
    let mut counted = 0u32;
    for group in &scenario.groups {
        let is_policy = group.policy.is_some();
        let is_new = !group.name.is_empty() && names.insert(group.name.as_str());
        let rule = "each group needs a name of its own";
        check(is_new, "groups.name", &group.name, rule)?;
        match &group.members {
            Members::Count(_) if is_policy => {}
            Members::Count(count) => {
                counted = counted.saturating_add(*count);
                let rule = "the groups must have no more nodes than the network";
                check_in(
                    counted <= scenario.nodes,
                    "groups.nodes",
                    count,
                    group,
                    rule,
                )?;
            }
            Members::Listed(nodes) => {
                let rule = "it must name a node";
                check_in(!nodes.is_empty(), "groups.members", "[]", group, rule)?;
                for node in nodes {
                    let is_known = *node < scenario.nodes && listed.insert(*node);
                    let rule = "each is a node of the network, and in one group at most";
                    check_in(is_known, "groups.members", node, group, rule)?;
                }
                let rule = "they must be in ascending order";
                check_in(nodes.is_sorted(), "groups.members", "a list", group, rule)?;
            }
        }
        if let Some(relay) = &group.relay {
            relay.gossip.validate()?;
        }
        let positive = "it must be more than 0";
        for rate in [group.uplink_bytes_per_s, group.downlink_bytes_per_s] {
            check_in(rate != Some(0), "groups rate", 0, group, positive)?;
        }
        let (loss, share) = (group.added_loss, "it must lie between 0 and 1");
        let is_share = (0.0..=1.0).contains(&loss);
        check_in(is_share, "groups.added_loss", loss, group, share)?;
        for topic in group.topics.iter().flatten() {
            let rule = "it must be one of relay.topics, counted from 0";
            check_in(
                *topic < scenario.relay.topics,
                "groups.topics",
                topic,
                group,
                rule,
            )?;
        }
        let rule = "light clients know no shards: every node must subscribe to all topics";
        let is_whole = group.topics.is_none() || scenario.services.is_none();
        check_in(is_whole, "groups.topics", "set", group, rule)?;
    }
    adversary::validate(scenario)?;
    let first_counted = scenario.nodes - counted;
    let twice = listed.range(first_counted..).next();
    let rule = "groups with a number have the last nodes, so none of those may be listed";
    check(twice.is_none(), "groups.members", twice.unwrap_or(&0), rule)
}
