use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use super::escape::Escaped;
use super::page;
use undertone_lab::record::{ExperimentRecord, read_folder};

fn records() -> Vec<ExperimentRecord> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/tests/records");
    read_folder(&folder).unwrap()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn every_experiment_has_a_row_a_section_and_its_charts() {
    let records = records();
    let html = page(&records);
    assert_eq!(count(&html, "<section "), records.len());
    let charts: usize = records.iter().map(|record| record.charts.len()).sum();
    assert_eq!(count(&html, "<svg viewBox=\"0 0 600 "), charts);
    assert_eq!(count(&html, "<desc "), charts);
    for anchor in ["x-latency-2kb", "x-scale"] {
        assert_eq!(count(&html, &format!("href=\"#{anchor}\"")), 1, "{anchor}");
        assert_eq!(count(&html, &format!("id=\"{anchor}\"")), 1, "{anchor}");
    }
}

#[test]
fn the_page_names_the_commits_that_it_is_from() {
    let mut records = records();
    for record in &mut records {
        record.commit = "0a1b2c".to_owned();
    }
    let one = "Run at commit <code>0a1b2c</code>.</p>";
    assert!(page(&records).contains(one));
    records[0].commit = "fedcba".to_owned();
    let both = "Run at commit <code>0a1b2c</code>, <code>fedcba</code>.</p>";
    assert!(page(&records).contains(both));
}

#[test]
fn what_differs_says_so_and_why() {
    let records = records();
    let html = page(&records);
    let differing = records.iter().flat_map(ExperimentRecord::differing);
    let mut number = 0;
    for figure in differing {
        number += 1;
        let why = Escaped(figure.why.as_ref().unwrap()).to_string();
        assert!(html.contains(&format!("<p>Why: {why}</p>")), "{why}");
    }
    assert_eq!(number, 3);
    assert_eq!(count(&html, "<td><strong>differs</strong></td>"), number);
    assert!(html.contains("<strong class=\"differs\">3 differ</strong>"));
    let mut unexplained = records;
    unexplained[1].figures[1].why = None;
    assert!(page(&unexplained).contains("<p>Why: not explained</p>"));
}

#[test]
fn the_same_records_give_the_same_bytes() {
    assert_eq!(page(&records()), page(&records()));
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let html = page(&records());
    for part in [" src=", "url(", "@import", "http:", "https:", "<script"] {
        assert_eq!(count(&html, part), 0, "{part}");
    }
    assert_eq!(count(&html, "<link "), 1, "the empty icon");
}

#[test]
fn ids_are_unique_even_if_those_of_records_are_not() {
    let mut records = records();
    records.push(records[0].clone());
    records[1].id = "\" onclick=\"x".to_owned();
    records[2].id = "Latency 2kb".to_owned();
    let html = page(&records);
    let ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len());
    let is_plain = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    assert!(ids.iter().all(|id| is_plain(id)), "{ids:?}");
}

#[test]
fn no_record_makes_a_page_that_says_so() {
    assert!(page(&[]).contains("No experiment has been run."));
}

#[test]
fn seeds_in_a_row_are_a_range() {
    let mut record = records().swap_remove(1);
    let shown = |record: &ExperimentRecord| {
        let html = page(std::slice::from_ref(record));
        let rest = html.split("<dt>seeds</dt><dd>").nth(1).unwrap().to_owned();
        rest.split("</dd>").next().unwrap().to_owned()
    };
    for (seeds, words) in [
        (vec![], "nothing is drawn at random"),
        (vec![7], "7"),
        (vec![1, 2, 3, 4, 9, 11, 12], "1 to 4, 9, 11, 12"),
        (vec![u64::MAX, 0], "18446744073709551615, 0"),
    ] {
        record.seeds = seeds;
        assert_eq!(shown(&record), words);
    }
}

proptest! {
    /// Any text is shown to the reader unchanged, and no tag or attribute ends within it.
    #[test]
    fn escaped_text_is_only_text(text in any::<String>()) {
        let escaped = Escaped(&text).to_string();
        prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
        let back = escaped
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&");
        let is_control = |c: char| c < ' ' && !['\t', '\n'].contains(&c) || c == '\u{7f}';
        prop_assert_eq!(back, text.replace(is_control, "\u{fffd}"));
    }
}
