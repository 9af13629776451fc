use std::path::PathBuf;

use super::*;

fn record(rustc: &str, counts: &[(&str, u64)]) -> Record {
    Record {
        circumstances: Circumstances {
            commit: "1234abc".to_owned(),
            rustc: rustc.to_owned(),
            ..Circumstances::default()
        },
        counts: counts
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect(),
    }
}

#[test]
fn a_difference_of_two_percent_passes_and_more_does_not() {
    let before = record("a", &[("verify", 1000), ("heartbeat", 50)]);
    for (verify, is_near) in [
        (1000, true),
        (1020, true),
        (980, true),
        (1021, false),
        (979, false),
    ] {
        let counted = record("a", &[("verify", verify), ("heartbeat", 50)]);
        assert_eq!(is_good(&counted, Some(&before)), is_near, "{verify}");
    }
    let new = record("a", &[("new-2k", 1)]);
    assert!(!is_good(&new, Some(&before)), "there is no record of it");
    assert!(!is_good(&new, None));
}

#[test]
fn the_page_has_both_numbers_and_says_what_to_do() {
    let before = record("rustc 1", &[("verify", 1000)]);
    let same = page(&record("rustc 1", &[("verify", 990)]), Some(&before));
    let expected = "\
instructions for one                                  counted     recorded difference
verifier: one proof                                       990         1000    -1.00 %
recorded at commit 1234abc with rustc 1, ";
    assert_eq!(same, expected);
    let other = page(&record("rustc 2", &[("verify", 1030)]), Some(&before));
    for part in ["+3.00 %", "another compiler", "--accept"] {
        assert!(other.contains(part), "{other}");
    }
    let none = page(&record("rustc 1", &[("verify", 990)]), None);
    assert!(none.contains("no record"), "{none}");
}

/// Names that the benchmarks do not know would be found only when somebody counts.
#[test]
fn every_work_is_known_to_its_benchmark() {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates");
    for work in WORKS {
        let folder = work.package.trim_start_matches("undertone-");
        let path = crates.join(folder).join("benches/instructions.rs");
        let text = fs::read_to_string(path).unwrap();
        assert!(
            text.contains(&format!("Some(\"{}\")", work.name)),
            "{work:?}"
        );
    }
}
