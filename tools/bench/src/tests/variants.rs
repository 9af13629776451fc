use clap::Parser;

use super::{Variants, VariantsError};

#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    variants: Variants,
}

fn labels(line: &str) -> Result<Vec<String>, VariantsError> {
    let words = ["test", "--peer", "x"].into_iter();
    let options = Options::try_parse_from(words.chain(line.split_whitespace())).unwrap();
    let commands = options.variants.commands()?;
    Ok(commands
        .iter()
        .map(|command| command.label().to_owned())
        .collect())
}

#[test]
fn variants_have_the_labels_given_or_numbers() {
    assert_eq!(labels("--peer y").unwrap(), ["variant 1", "variant 2"]);
    assert_eq!(labels("--peer y --label a --label b").unwrap(), ["a", "b"]);
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let too_few = labels("--peer y --label a").unwrap_err();
    assert!(matches!(
        too_few,
        VariantsError::Count {
            labels: 1,
            peers: 2
        }
    ));
    let twice = labels("--peer y --label a --label a").unwrap_err();
    assert!(matches!(twice, VariantsError::Twice { label } if label == "a"));
    let unknown = labels("--peer @nonsense").unwrap_err();
    assert!(matches!(unknown, VariantsError::Program(_)));
}

#[test]
fn a_peer_must_be_given() {
    assert!(Options::try_parse_from(["test"]).is_err());
}
