use serde_json::to_string;

use super::*;

struct Part {
    count: u8,
    share: f64,
    kind: bool,
}

fn read(text: &str) -> Result<Part, Error> {
    let root = TomlEntry::read(text, "s.toml")?;
    let root = Section::new(&root, "", "see the manual")?;
    keys!(root => part, items, names);
    let part = part.table()?;
    keys!(part => count, share, kind_of, extra);
    let kinds = [("on", true), ("off", false)];
    let settings = Part {
        count: count.whole(1, 9)?.unwrap_or(1),
        share: share.number(0.0, 1.0)?.unwrap_or(0.0),
        kind: kind_of.word(&kinds)?.unwrap_or(false),
    };
    if settings.kind {
        extra.time(MS)?.ok_or_else(|| extra.bad("milliseconds"))?;
    }
    part.check_all_read("part.kind_of is off")?;
    for item in items.array_of_tables()? {
        keys!(item => at);
        at.flag()?;
    }
    for (_, section) in names.tables("tables [names.NAME]")? {
        keys!(section => at);
        at.text("a text")?;
    }
    Ok(settings)
}

fn error(text: &str) -> String {
    read(text)
        .err()
        .expect("there is a mistake in the text")
        .to_string()
}

#[test]
fn keys_are_read_and_those_that_are_missing_are_none() {
    let settings = read("[part]\ncount = 7\nkind_of = \"on\"\nextra = 2.5").unwrap();
    assert_eq!(
        (settings.count, settings.share, settings.kind),
        (7, 0.0, true)
    );
    assert_eq!(read("part = {share = 1}").unwrap().share, 1.0);
}

#[test]
fn mistakes_name_the_place_the_value_and_the_remedy() {
    for (text, message) in [
        ("a = 1\n[b", "s.toml:2: unclosed table, expected `]`"),
        (
            "\npart = 3",
            "s.toml:2: part = 3: expected a table [part] of keys",
        ),
        (
            "[part]\ncuont = 1",
            "s.toml:2: unknown key \"part.cuont\"; did you mean \"count\"?",
        ),
        (
            "other = 1",
            "s.toml:1: unknown key \"other\"; see the manual",
        ),
        (
            "[part]\nkind = \"on\"",
            "s.toml:2: unknown key \"part.kind\"; did you mean \"kind_of\"?",
        ),
        (
            "[part]\ncount = 10",
            "s.toml:2: part.count = 10: expected a whole number from 1 to 9",
        ),
        (
            "[part]\nshare = nan",
            "s.toml:2: part.share = NaN: expected a number from 0 to 1",
        ),
        (
            "[part]\nkind_of = \"no\"",
            "s.toml:2: part.kind_of = \"no\": expected one of \"on\", \"off\"",
        ),
        (
            "\n[part]\nkind_of = \"on\"",
            "s.toml:2: part.extra is missing: expected milliseconds",
        ),
        (
            "[part]\nextra = 1",
            "s.toml:2: part.extra has no effect here: part.kind_of is off",
        ),
        (
            "items = 1",
            "s.toml:1: items = 1: expected tables [[items]]",
        ),
        (
            "[[items]]\n[[items]]\nat = 1",
            "s.toml:3: items.1.at = 1: expected true or false",
        ),
        (
            "[names.a]\nat = [1]",
            "s.toml:2: names.a.at = a list of 1: expected a text",
        ),
    ] {
        assert_eq!(error(text), message);
    }
}

#[test]
fn every_origin_has_its_name() {
    let shown = |origin: Origin| origin.to_string();
    let variable = "UNDERTONE_D".to_owned();
    assert_eq!(shown(Origin::Set), "--set");
    assert_eq!(
        shown(Origin::Environment { variable }),
        "environment variable UNDERTONE_D"
    );
    let flag = "--d".to_owned();
    assert_eq!(shown(Origin::Flag { flag }), "flag --d");
    assert_eq!(shown(Origin::Default), "defaults");
}

#[test]
fn a_value_from_elsewhere_is_toml_or_text() {
    let value = |text| TomlEntry::read_value(text, &Origin::Set);
    assert_eq!(value("[1, {a = 2}]").as_list().map(<[_]>::len), Some(2));
    assert_eq!(value("plain text").as_text(), Some("plain text"));
    let inner = value("{a = 2}");
    let inner = &inner.as_table().unwrap()["a"];
    assert_eq!((inner.as_whole(), &inner.origin), (Some(2), &Origin::Set));
}

#[test]
fn values_have_a_form_in_json_and_in_toml() {
    let text = "a = [1, 2.5, true, \"t\\n\", 1979-05-27]\n[b]\nc = 1\n";
    let root = TomlEntry::read(text, "s.toml").unwrap();
    assert_eq!(
        to_string(&root.value).unwrap(),
        r#"{"a":[1,2.5,true,"t\n","1979-05-27"],"b":{"c":1}}"#
    );
    let toml = root.as_table().unwrap()["b"].value.to_toml();
    assert_eq!(toml.to_string(), "{ c = 1 }");
}

#[test]
fn the_nearest_name_is_close_or_lacks_only_its_unit() {
    let near = |wanted: &str| nearest(wanted, ["one_way_ms", "cities", "loss"].into_iter());
    assert_eq!(near("one_way").as_deref(), Some("one_way_ms"));
    assert_eq!(near("citys").as_deref(), Some("cities"));
    assert_eq!(near("bandwidth"), None);
}
