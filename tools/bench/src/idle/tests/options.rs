use clap::Parser;

use super::IdleOptions;

fn parse(line: &str) -> Result<IdleOptions, clap::Error> {
    let words = ["idle", "--peer", "x"].into_iter();
    IdleOptions::try_parse_from(words.chain(line.split_whitespace()))
}

#[test]
fn the_defaults_are_those_of_the_readme() {
    let options = parse("").unwrap();
    assert_eq!((options.connections, options.seconds), (50, 20));
    assert_eq!(options.settle_seconds, 5);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for line in [
        "--connections 0",
        "--connections 2001",
        "--seconds 0",
        "--settle-seconds 0",
        "--settle-seconds 31",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}
