use undertone_node::command::EpochAllowance;
use undertone_node::services::LightStatus;

use super::{ChatStatus, Left, MessageBudget, PublishAllowance};

fn status(peers: usize, carriers: usize, has_peers_to_dial: bool) -> ChatStatus {
    ChatStatus {
        peers,
        carriers,
        has_peers_to_dial,
        publishing: PublishAllowance::Unlimited,
    }
}

#[test]
fn who_is_alone_is_told_why() {
    let alone = status(0, 0, false);
    assert!(alone.connection().contains("no peers are configured"));
    let unheard = status(0, 0, true);
    assert!(unheard.connection().contains("no peer answers"));
    assert!(!alone.is_connected() && !unheard.is_connected());
}

#[test]
fn peers_of_other_shards_do_not_count_as_connection() {
    let elsewhere = status(2, 0, true);
    let words = "connected to 2 peers, none of which carries this room";
    assert_eq!(
        (elsewhere.connection().as_str(), elsewhere.is_connected()),
        (words, false)
    );
    assert_eq!(status(1, 1, true).connection(), "connected to 1 peer");
    let some = "connected to 3 peers, 1 of which carry this room";
    assert_eq!(status(3, 1, true).connection(), some);
}

#[test]
fn messages_are_counted_by_epoch() {
    let mut budget = MessageBudget::new(3, 600);
    budget.spend(60_010);
    budget.spend(60_020);
    let left = Left {
        at_most: 1,
        limit: 3,
        epoch_ends_in_s: 570,
    };
    assert_eq!(budget.left(60_030), left);
    assert_eq!(budget.left(60_600).at_most, 3);
}

#[test]
fn the_count_of_the_node_replaces_the_chats() {
    // The membership has fewer messages than the network allows, and some were sent before.
    let mut budget = MessageBudget::new(100, 600);
    budget.learn(60_010, EpochAllowance { left: 2, limit: 5 });
    let left = budget.left(60_020);
    assert_eq!((left.at_most, left.limit), (2, 5));
    budget.spend(60_030);
    assert_eq!(budget.left(60_040).at_most, 1);
    assert_eq!(budget.left(60_600).at_most, 5);
}

#[test]
fn the_words_say_how_many_are_left() {
    let mut one = status(1, 1, true);
    let left = |at_most| Left {
        at_most,
        limit: 3,
        epoch_ends_in_s: 9,
    };
    one.publishing = PublishAllowance::Limited(left(2));
    assert_eq!(
        one.publishing(),
        "at most 2 of 3 messages left in this epoch; the epoch ends in 9 s"
    );
    one.publishing = PublishAllowance::Limited(left(0));
    assert_eq!(one.publishing_gist(), "no messages left in this epoch");
}

#[test]
fn without_relay_the_filter_peers_of_the_room_count() {
    let mut one = status(2, 0, true);
    let topic = "/waku/2/rs/66/0";
    let mut light = LightStatus::default();
    light.filter_peers.insert("/waku/2/rs/66/1".into(), 2);
    one.without_relay(&light, topic);
    assert!(!one.is_connected());
    light.filter_peers.insert(topic.into(), 1);
    one.without_relay(&light, topic);
    assert!(one.is_connected());
    assert_eq!(one.publishing(), "through lightpush peers");
}
