//! Chats with a rate limit: real memberships, real proofs.

use undertone_membership::SqliteRegistry;
use undertone_rln::{Identity, IdentityFile};

use crate::chat::support::{Chat, Place};

/// Longest epoch that a node takes: it began in 2001 and ends in 2033.
const LONG_EPOCH: &str = "--rln-epoch-s 1000000000";

/// A chat whose user is a member with this limit.
fn member(place: &Place, name: &str, limit: u32, more: &str) -> Chat {
    let identity = Identity::from_seed(name.as_bytes());
    IdentityFile::write(&place.folder(name).join("rln-identity.json"), &identity).unwrap();
    let registry = place.folder("shared").join("members.sqlite");
    let members = SqliteRegistry::open(&registry).unwrap();
    members.register(identity.commitment(), limit).unwrap();
    again(place, name, more)
}

/// The chat of a member that has had one.
fn again(place: &Place, name: &str, more: &str) -> Chat {
    let folder = place.folder(name);
    let registry = place.folder("shared").join("members.sqlite");
    let flags = format!(
        "--nick {name} --rln-registry {} --rln-tokens 2 \
         --rln-tokens-max-cpu 100 --rln-verify-threads 1 {more}",
        registry.display()
    );
    Chat::json(&folder, &flags)
}

#[test]
fn members_talk_and_see_their_messages_count_down() {
    let place = Place::new();
    let mut alice = member(&place, "alice", 3, LONG_EPOCH);
    let find_alice = alice.ready();
    let mut bob = member(&place, "bob", 9, &format!("{LONG_EPOCH} {find_alice}"));
    for one in [&mut alice, &mut bob] {
        one.event("status", |event| event["connected"] == true);
    }
    for number in 1..=3_u64 {
        let text = format!("message {number}");
        alice.type_line(&text);
        // The count may be told before the message is.
        let [status, _] = alice.events([
            &|event| event["messagesLeftAtMost"] == 3 - number,
            &|event| event["number"] == number && event["state"] == "propagated",
        ]);
        assert_eq!(status["messagesPerEpoch"], 3, "{status}");
        assert_eq!(bob.message(&text)["nick"], "alice");
    }
    alice.type_line("one too many");
    alice.own(4, "queued");
    // Whoever still may goes on, and is heard.
    bob.type_line("quiet now?");
    let [left, _] = bob.events([&|event| event["messagesLeftAtMost"] == 8, &|event| {
        event["number"] == 1 && event["state"] == "propagated"
    }]);
    assert_eq!(left["mayPublish"], true, "{left}");
    assert_eq!(alice.message("quiet now?")["nick"], "bob");
    // What waits for the next epoch waits on after the program was killed, and nothing is left after it either.
    drop(alice);
    let mut alice = again(&place, "alice", LONG_EPOCH);
    let [waits, left] = alice.events([
        &|event| event["event"] == "own" && event["state"] == "queued",
        &|event| event["messagesLeftAtMost"] == 0,
    ]);
    assert_eq!(waits["text"], "one too many", "{waits}");
    assert_eq!(
        left["publishing"], "no messages left in this epoch",
        "{left}"
    );
}

#[test]
fn a_new_epoch_lets_out_what_waited_for_it() {
    let place = Place::new();
    let epoch = "--rln-epoch-s 4";
    let mut bob = member(&place, "bob", 9, epoch);
    let find_bob = bob.ready();
    let mut alice = member(&place, "alice", 1, &format!("{epoch} {find_bob}"));
    alice.event("status", |event| event["connected"] == true);
    for number in 1..=3 {
        alice.type_line(&format!("message {number}"));
    }
    let arrived = |event: &serde_json::Value, number| {
        event["number"] == number && event["state"] == "propagated"
    };
    alice.events([
        &|event| arrived(event, 1),
        &|event| arrived(event, 2),
        &|event| arrived(event, 3),
    ]);
    assert!(alice.has_said("\"messagesLeftAtMost\":0"));
    bob.events([
        &|event| event["text"] == "message 1",
        &|event| event["text"] == "message 2",
        &|event| event["text"] == "message 3",
    ]);
}

#[test]
fn who_is_no_member_only_reads_and_is_told_so() {
    let place = Place::new();
    let mut alice = member(&place, "alice", 3, LONG_EPOCH);
    let find_alice = alice.ready();
    let registry = place.folder("shared").join("members.sqlite");
    let guest = format!(
        "--nick guest --rln-registry {} {LONG_EPOCH} {find_alice}",
        registry.display()
    );
    let mut guest = Chat::json(&place.folder("guest"), &guest);
    let status = guest.event("status", |event| event["connected"] == true);
    assert_eq!(status["mayPublish"], false, "{status}");
    let said = status["publishing"].as_str().unwrap();
    assert!(said.contains("no membership"), "{said}");
    guest.type_line("may I?");
    // It waits for half a minute, for the node might be about to become a member.
    guest.own(1, "queued");

    alice.type_line("you may listen");
    guest.message("you may listen");
}
