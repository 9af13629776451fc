//! Chats with a rate limit: real memberships, real proofs.

use std::time::Duration;

use undertone_membership::SqliteRegistry;
use undertone_rln::{Identity, IdentityFile};

use crate::support::{Chat, Place};

/// Longest epoch that a node takes: it began in 2001 and ends in 2033.
const LONG_EPOCH: &str = "--rln-epoch-s 1000000000";

/// A chat whose user is a member with this limit.
fn member(place: &Place, name: &str, limit: u32, more: &str) -> Chat {
    let folder = place.folder(name);
    let identity = Identity::from_seed(name.as_bytes());
    IdentityFile::write(&folder.join("rln-identity.json"), &identity).unwrap();
    let registry = place.folder("shared").join("members.sqlite");
    let members = SqliteRegistry::open(&registry).unwrap();
    members.register(identity.commitment(), limit).unwrap();
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
            &|event| event["number"] == number && event["state"] == "sent",
        ]);
        assert_eq!(status["messagesPerEpoch"], 3, "{status}");
        assert_eq!(bob.message(&text)["nick"], "alice");
    }
    alice.type_line("one too many");
    let refused = alice.own(4, "failed");
    let reason = refused["reason"].as_str().unwrap();
    assert!(
        reason.contains("all 3 messages of this epoch are used up"),
        "{reason}"
    );
    // Whoever still may goes on, and is heard.
    bob.type_line("quiet now?");
    let [left, _] = bob.events([&|event| event["messagesLeftAtMost"] == 8, &|event| {
        event["number"] == 1 && event["state"] == "sent"
    }]);
    assert_eq!(left["mayPublish"], true, "{left}");
    assert_eq!(alice.message("quiet now?")["nick"], "bob");
}

#[test]
fn a_new_epoch_gives_new_messages() {
    let place = Place::new();
    let mut bob = member(&place, "bob", 9, "--rln-epoch-s 20");
    let find_bob = bob.ready();
    let mut alice = member(&place, "alice", 1, &format!("--rln-epoch-s 20 {find_bob}"));
    alice.event("status", |event| event["connected"] == true);
    // An epoch may end between two messages, never between more than a few.
    let (mut number, mut refused) = (0, 0);
    let mut send = |text: &str| {
        number += 1;
        alice.type_line(text);
        let answer = alice.event("own", |event| {
            let state = event["state"].as_str().unwrap();
            event["number"] == number && ["sent", "failed"].contains(&state)
        });
        answer["state"] == "sent"
    };
    while refused == 0 {
        refused += u32::from(!send("as many as I may"));
    }
    // More in the same epoch stay refused; the next one lets a message through.
    while !send("a new epoch") {
        refused += 1;
        assert!(refused < 600);
        std::thread::sleep(Duration::from_millis(100));
    }
    bob.message("a new epoch");
    assert!(alice.has_said("\"messagesLeftAtMost\":0"));
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
    let refused = guest.own(1, "failed");
    assert!(
        refused["reason"].as_str().unwrap().contains("proof"),
        "{refused}"
    );

    alice.type_line("you may listen");
    guest.message("you may listen");
}
