//! Chats in light mode: nothing is relayed.

use crate::chat::support::{Chat, Place};

/// A relay with a store; the flags with which others find it.
fn keeper(place: &Place) -> (Chat, String) {
    let keeper = "--rln=false --nick keeper --store=true";
    let mut keeper = Chat::json(&place.folder("keeper"), keeper);
    let find_keeper = keeper.ready();
    (keeper, find_keeper)
}

#[test]
fn who_relays_nothing_reads_and_writes_all_the_same() {
    let place = Place::new();
    let (_keeper, find_keeper) = keeper(&place);
    let bob = format!("--rln=false --nick bob {find_keeper}");
    let mut bob = Chat::json(&place.folder("bob"), &bob);
    bob.type_line("before alice came");
    bob.own(1, "stored");

    let alice = format!("--light --nick alice {find_keeper}");
    let mut alice = Chat::json(&place.folder("alice"), &alice);
    // The past may come before or after the word that she is connected.
    let [past, status] = alice.events([
        &|event| event["event"] == "message" && event["text"] == "before alice came",
        &|event| event["event"] == "status" && event["connected"] == true,
    ]);
    assert_eq!(past["nick"], "bob");
    assert_eq!(status["publishing"], "through lightpush peers");
    alice.type_line("without relay");
    assert_eq!(bob.message("without relay")["nick"], "alice");
    alice.own(1, "stored");
    bob.type_line("i hear you");
    assert_eq!(alice.message("i hear you")["nick"], "bob");
    assert!(
        !alice.has_shown("without relay"),
        "the filter peer pushes own messages, too"
    );
}

#[test]
fn who_relays_nothing_goes_on_after_a_restart() {
    let place = Place::new();
    let (_keeper, find_keeper) = keeper(&place);
    let bob = format!("--rln=false --nick bob {find_keeper}");
    let mut bob = Chat::json(&place.folder("bob"), &bob);
    let folder = place.folder("alice");
    // Nobody listens at this port.
    let nowhere = "--static-peers /ip4/127.0.0.1/tcp/1";
    let mut alice = Chat::json(&folder, &format!("--light --nick alice {nowhere}"));
    alice.type_line("written before");
    alice.own(1, "queued");
    // Killed, without a chance to finish anything.
    drop(alice);
    bob.type_line("said while she was away");
    bob.own(1, "stored");

    let mut alice = Chat::json(&folder, &format!("--light --nick alice {find_keeper}"));
    let [waits, stored, past] = alice.events([
        &|event| event["number"] == 1 && event["state"] == "queued",
        &|event| event["number"] == 1 && event["state"] == "stored",
        &|event| event["text"] == "said while she was away",
    ]);
    assert_eq!(waits["text"], "written before", "{waits}");
    assert!(stored["hash"].is_string(), "{stored}");
    assert_eq!(past["nick"], "bob");
    assert_eq!(bob.message("written before")["nick"], "alice");
    bob.type_line("welcome back");
    alice.message("welcome back");
    assert!(
        !alice.has_shown("written before"),
        "an own message is no news"
    );
}
