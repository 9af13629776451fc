//! Validation of services, and the messages that light clients publish.

use super::check;
use crate::error::SimError;
use crate::scenario::Scenario;

/// Maximum number of light clients in a run.
const CLIENTS_MAX: u32 = 1_000_000;

/// Rejects impossible services.
pub(super) fn validate(scenario: &Scenario) -> Result<(), SimError> {
    let Some(setup) = &scenario.services else {
        return Ok(());
    };
    let nodes = setup.service_nodes;
    let some = "it must be at least 1 and no more than there are relays";
    let is_some = (1..=scenario.nodes).contains(&nodes);
    check(is_some, "services.service_nodes", nodes, some)?;
    let clients = setup.light_clients;
    let few = "it must be 1 to a million";
    let is_few = (1..=CLIENTS_MAX).contains(&clients);
    check(is_few, "services.light_clients", clients, few)?;
    let known = setup.peers_per_client;
    let served = "it must be at least 1 and no more than there are service nodes";
    let is_served = (1..=nodes).contains(&known);
    check(is_served, "services.peers_per_client", known, served)?;
    if let Some(first) = setup.known_peers {
        let some = "it must be at least 1 and no more than services.peers_per_client";
        let is_some = (1..=known).contains(&first);
        check(is_some, "services.known_peers", first, some)?;
    }
    let filter_peers = setup.filter_peers;
    let used = "it must be at least 1 and no more than services.peers_per_client";
    let is_used = (1..=known).contains(&filter_peers);
    check(is_used, "services.filter_peers", filter_peers, used)?;
    let topics = setup.content_topics;
    let positive = "it must be 1 to 10000";
    let is_positive = (1..=10_000).contains(&topics);
    check(is_positive, "services.content_topics", topics, positive)?;
    let of_client = setup.topics_per_client;
    let within = "it must be at least 1 and no more than services.content_topics";
    let is_within = (1..=topics).contains(&of_client);
    check(is_within, "services.topics_per_client", of_client, within)?;
    if setup.channel {
        let one = "the members of a channel share one content topic: it must be 1";
        check(topics == 1, "services.content_topics", topics, one)?;
        let one_in = setup.publish_one_in;
        let all = "only members write to a channel: it must be 1";
        check(one_in == 1, "services.publish_one_in", one_in, all)?;
        let subscribes = "the members of a channel subscribe: it must be true";
        check(
            setup.subscribes,
            "services.subscribes",
            setup.subscribes,
            subscribes,
        )?;
    }
    let page = setup.page_size;
    let pages = "it must be 1 to 100";
    check((1..=100).contains(&page), "services.page_size", page, pages)?;
    if let Some((up, down)) = setup.client_rates {
        let positive = "it must be more than 0";
        check(up > 0, "services.uplink", up, positive)?;
        check(down > 0, "services.downlink", down, positive)?;
    }
    let loss = setup.stream_loss;
    let share = "it must lie between 0 and 1";
    let is_share = (0.0..=1.0).contains(&loss);
    check(is_share, "services.stream_loss", loss, share)?;
    for trouble in &setup.troubles {
        let rule = "it must be a service node, counted from 0";
        let peer = trouble.peer;
        check(peer < nodes, "services.troubles.peer", peer, rule)?;
    }
    let whole = scenario.relay.fragments == 1;
    let rule = "light clients take whole messages: it must be 1";
    check(whole, "relay.fragments", scenario.relay.fragments, rule)?;
    let honest = setup.honest_clients();
    let rule = "it must leave a client that is honest";
    let flooding = setup.flood.map_or(0, |flood| flood.clients);
    check(honest > 0, "services.flood.clients", flooding, rule)
}

/// The light client that publishes a message instead of a relay, if any.
pub(super) fn publisher(scenario: &Scenario, index: u32) -> Option<u32> {
    let setup = scenario.services.as_ref()?;
    let one_in = setup.publish_one_in;
    let is_light = one_in > 0 && index % one_in == one_in - 1;
    let number = index.checked_div(one_in)? % setup.honest_clients();
    is_light.then_some(scenario.nodes + number)
}
