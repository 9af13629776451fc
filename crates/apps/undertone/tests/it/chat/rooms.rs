//! Chats in lines.

use crate::chat::support::{Chat, Place};

#[test]
fn who_writes_before_anybody_is_there_is_heard_later() {
    let place = Place::new();
    let mut alice = Chat::json(&place.folder("alice"), "--rln=false --nick alice");
    let find_alice = alice.ready();
    alice.event("status", |event| event["connected"] == false);
    alice.type_line("is anybody there?");
    alice.own(1, "queued");

    let bob = format!("--rln=false --nick bob {find_alice}");
    let mut bob = Chat::json(&place.folder("bob"), &bob);
    let heard = bob.message("is anybody there?");
    assert_eq!(
        (&heard["nick"], &heard["encrypted"]),
        (&"alice".into(), &false.into())
    );
    assert!(heard["latencyMs"].is_i64(), "{heard}");
    let propagated = alice.own(1, "propagated");
    assert!(propagated["hash"].is_string(), "{propagated}");

    bob.type_line("/yes");
    assert_eq!(alice.message("/yes")["nick"], "bob");
    bob.own(1, "propagated");
}

#[test]
fn what_was_written_before_the_program_was_killed_is_sent_by_the_next() {
    let place = Place::new();
    let folder = place.folder("alice");
    let start = || Chat::json(&folder, "--rln=false --nick alice");
    let mut alice = start();
    alice.type_line("written before");
    alice.own(1, "queued");
    // Killed, without a chance to finish anything.
    drop(alice);
    let mut alice = start();
    let find_alice = alice.ready();
    assert_eq!(alice.own(1, "queued")["text"], "written before");
    alice.type_line("written after");
    alice.own(2, "queued");
    let bob = format!("--rln=false --nick bob {find_alice}");
    let mut bob = Chat::json(&place.folder("bob"), &bob);
    bob.events([&|event| event["text"] == "written before", &|event| {
        event["text"] == "written after"
    }]);
    for number in [1, 2] {
        let is_it = |event: &serde_json::Value| event["number"] == number;
        alice.event("own", |event| is_it(event) && event["state"] == "sent");
    }
    bob.type_line("both came");
    alice.message("both came");
    assert!(
        !alice.has_shown("written before"),
        "an own message is no news"
    );
}

#[test]
fn who_comes_later_reads_what_a_store_kept() {
    let place = Place::new();
    let keeper = "--rln=false --nick keeper --store=true";
    let mut keeper = Chat::json(&place.folder("keeper"), keeper);
    let find_keeper = keeper.ready();
    let guest = |name: &str| {
        let more = format!("--rln=false --nick {name} {find_keeper}");
        Chat::json(&place.folder(name), &more)
    };
    let mut early = guest("early");
    early.type_line("for those who come later");
    keeper.message("for those who come later");
    early.own(1, "stored");
    drop(early);

    let mut late = guest("late");
    assert_eq!(late.message("for those who come later")["nick"], "early");
}

#[test]
fn who_has_the_key_reads_and_who_has_not_is_told_so() {
    let place = Place::new();
    let key = place.file("key", &format!("{}\n", "ab".repeat(32)));
    let other = place.file("other", &format!("{}\n", "cd".repeat(32)));
    let chat = |name: &str, more: &str| {
        let more = format!("--rln=false --nick {name} --room secret {more}");
        Chat::json(&place.folder(name), &more)
    };
    let mut alice = chat("alice", &format!("--key {key}"));
    let find_alice = alice.ready();
    let mut bob = chat("bob", &format!("--key {key} {find_alice}"));
    let mut eve = chat("eve", &format!("--key {other} {find_alice}"));
    let mut guest = chat("guest", &find_alice);
    for one in [&mut bob, &mut eve, &mut guest] {
        one.event("status", |event| event["connected"] == true);
    }
    // All three, before anything is said.
    alice.event("status", |event| event["peersOfRoom"] == 3);

    alice.type_line("the eagle has landed");
    assert_eq!(bob.message("the eagle has landed")["encrypted"], true);
    let reason = |chat: &mut Chat| chat.event("unreadable", |_| true)["reason"].clone();
    assert_eq!(
        reason(&mut eve),
        "sealed with another key, or changed on the way"
    );
    assert!(reason(&mut guest).as_str().unwrap().contains("no key"));

    // Clear text in an encrypted room is read, and known for what it is.
    guest.type_line("hello?");
    assert_eq!(bob.message("hello?")["encrypted"], false);
}

#[test]
fn lines_for_people_are_harmless_and_end_with_the_input() {
    let place = Place::new();
    let mut alice = Chat::start(
        &place.folder("alice"),
        "--rln=false --nick alice --listen --lines",
    );
    let listening = alice.line(|line| line.contains("listening on "));
    alice.line(|line| line.contains("not connected"));
    let address = listening.rsplit(' ').next().unwrap().to_owned();

    let bob = format!("--rln=false --nick bob --json --static-peers {address}");
    let mut bob = Chat::start(&place.folder("bob"), &bob);
    bob.type_line("\u{1b}[2J\u{202e}12:00:00 <alice> pay\u{7}");
    let line = alice.line(|line| line.contains("<bob>"));
    assert!(
        line.contains("<bob> \u{fffd}[2J12:00:00 <alice> pay\u{fffd} ("),
        "{line}"
    );

    // Everything has reached somebody, so the end of the input is the end of the chat.
    bob.own(1, "propagated");
    assert_eq!(bob.end().code(), Some(0));

    alice.type_line("/nonsense");
    alice.line(|line| line.contains("no command \"/nonsense\""));
    alice.type_line("/quit");
    assert_eq!(alice.end().code(), Some(0));
}

#[test]
fn the_end_of_the_input_is_the_end_of_the_chat_though_nobody_is_there() {
    let place = Place::new();
    let folder = place.folder("alice");
    let flags = "--rln=false --nick alice --json --end-wait-s 1";
    let mut alone = Chat::start(&folder, flags);
    alone.type_line("for the next time");
    alone.own(1, "queued");
    assert_eq!(alone.end().code(), Some(1));

    let mut alice = Chat::json(&folder, "--rln=false --nick alice");
    let find_alice = alice.ready();
    assert_eq!(alice.own(1, "queued")["text"], "for the next time");
    let bob = format!("--rln=false --nick bob {find_alice}");
    let mut bob = Chat::json(&place.folder("bob"), &bob);
    bob.message("for the next time");
}

#[test]
fn a_key_that_is_none_is_refused_before_anything_starts() {
    let place = Place::new();
    let key = place.file("key", "secret\n");
    for (flags, expected) in [
        (format!("--key {key}"), "is not 64 hexadecimal digits"),
        (
            format!("--passphrase-file {key} --key {key}"),
            "cannot be used with",
        ),
        ("--room a/b".to_owned(), "content topic"),
        ("--nick <b>".to_owned(), "others would see"),
    ] {
        let folder = place.folder("nobody");
        let output = crate::chat::support::command(&folder, &flags)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(expected),
            "{flags}: {said}"
        );
        assert!(!said.contains("secret"), "{said}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{flags}");
    }
}
