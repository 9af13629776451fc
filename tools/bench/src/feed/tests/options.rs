use clap::Parser;

use super::FeedOptions;

fn parse(line: &str) -> Result<FeedOptions, clap::Error> {
    let words = ["feed", "--peer", "x"].into_iter();
    FeedOptions::try_parse_from(words.chain(line.split_whitespace()))
}

#[test]
fn the_defaults_are_those_of_the_readme() {
    let options = parse("").unwrap();
    assert_eq!((options.messages, options.rounds), (500, 5));
    assert_eq!((options.warm_up, options.connections), (100, 8));
    assert_eq!(options.sizes, [2 << 10, 25 << 10, 100 << 10, 150 << 10]);
    assert_eq!(options.protocol.as_ref(), "/meshsub/1.2.0");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for line in [
        "--messages 0",
        "--sizes 15",
        "--sizes 16777217",
        "--rounds 0",
        "--connections 1",
        "--connections 13",
        "--protocol meshsub",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    assert_eq!(parse("--sizes 16,99").unwrap().sizes, [16, 99]);
}
