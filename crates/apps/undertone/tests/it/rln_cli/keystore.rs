//! Keystores: in and out again, passwords, and what is refused.

use std::fs;

use undertone_rln::IdentityFile;

use crate::support::place::{Place, text};

const CONTRACT: &str = "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";

fn import(index: u32) -> String {
    format!(
        "rln keystore import --keystore k --identity alice --chain-id 59141 --contract {CONTRACT} \
         --index {index} --limit 100 --password-file pw --json"
    )
}

/// A place with an identity and two password files.
fn place() -> Place {
    let place = Place::new();
    place.run("rln keygen --out alice").succeeded();
    fs::write(place.path("pw"), "first password\n").unwrap();
    fs::write(place.path("pw2"), "second password").unwrap();
    place
}

#[test]
fn an_identity_goes_in_and_out_and_the_password_changes() {
    let place = place();
    let made = place.run("rln keystore new --keystore k --json").json(0);
    assert_eq!(made["credentials"].as_array().unwrap().len(), 0);
    let imported = place.run(&import(7)).json(0);
    let listed = place.run("rln keystore list --keystore k --json").json(0);
    assert_eq!(listed["credentials"][0], imported["credential"]);

    let change = "rln keystore password --keystore k --password-file pw --new-password-file pw2";
    place.run(change).succeeded();
    place.run(change).failed(1, &["wrong password"]);
    let export = "rln keystore export --keystore k --out bob --json --password-file";
    place
        .run(&format!("{export} pw"))
        .failed(1, &["wrong password"]);
    assert!(!place.exists("bob"));
    let exported = place.run(&format!("{export} pw2")).json(0);
    assert_eq!(exported, imported);
    assert_eq!(
        (&exported["index"], &exported["limit"]),
        (&7.into(), &100.into())
    );
    let (alice, bob) = (place.path("alice"), place.path("bob"));
    let (alice, bob) = (
        IdentityFile::read(&alice).unwrap(),
        IdentityFile::read(&bob).unwrap(),
    );
    assert_eq!(alice.secret(), bob.secret());
    assert_eq!(
        hex::encode(undertone_rln::fr_to_le(&alice.commitment())),
        text(&exported["commitment"])
    );
}

#[test]
fn what_is_refused_changes_nothing() {
    let place = place();
    place.run(&import(7)).json(0);
    let before = fs::read(place.path("k")).unwrap();
    place
        .run("rln keystore new --keystore k")
        .failed(1, &["k: exists already"]);
    place
        .run(&import(7))
        .failed(1, &["in the keystore already"]);
    let other = import(8).replace("file pw", "file pw2");
    place.run(&other).failed(1, &["wrong password"]);
    fs::write(place.path("empty"), "\n").unwrap();
    let empty = import(8).replace("file pw", "file empty");
    place.run(&empty).failed(2, &["the password is empty"]);
    fs::write(place.path("long"), [b'x'; 1025]).unwrap();
    let long = import(8).replace("file pw", "file long");
    place.run(&long).failed(1, &["too long"]);
    assert_eq!(fs::read(place.path("k")).unwrap(), before);

    place.run(&import(8)).json(0);
    let export = "rln keystore export --keystore k --out bob --password-file pw";
    place.run(export).failed(2, &["2 credentials", "--key"]);
    place
        .run(&format!("{export} --key {}", "0".repeat(64)))
        .failed(1, &["no credential 000"]);
}
