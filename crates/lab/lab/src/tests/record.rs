use super::figure::short;
use super::*;

#[test]
fn a_verdict_follows_from_its_criterion() {
    let judge =
        |criterion, ours: &[f64]| Figure::published("x", "ms", 100.0, ours, criterion).verdict;
    assert_eq!(judge(Criterion::Within(0.05), &[105.0]), Verdict::Agrees);
    assert_eq!(judge(Criterion::Within(0.05), &[105.1]), Verdict::Differs);
    assert_eq!(judge(Criterion::Within(0.05), &[94.9]), Verdict::Differs);
    assert_eq!(judge(Criterion::AtLeast(10.0), &[10.0]), Verdict::Agrees);
    assert_eq!(judge(Criterion::AtLeast(10.0), &[9.9]), Verdict::Differs);
    assert_eq!(judge(Criterion::AtMost(10.0), &[10.0]), Verdict::Agrees);
    assert_eq!(judge(Criterion::AtMost(10.0), &[10.1]), Verdict::Differs);
    assert_eq!(
        judge(Criterion::Between(1.0, 2.0), &[2.1]),
        Verdict::Differs
    );
    // The published value is judged, and not our median.
    let band = Criterion::Band(99.0, 101.0);
    assert_eq!(judge(band, &[1e9]), Verdict::Agrees);
    assert_eq!(
        judge(Criterion::Band(101.0, 102.0), &[100.0]),
        Verdict::Differs
    );
    assert_eq!(band.to_string(), "published in 99 to 101, 95 % of seeds");
    assert_eq!(judge(Criterion::Shown, &[1e9]), Verdict::Shown);
}

#[test]
fn a_missing_figure_differs_and_so_does_one_that_is_no_number() {
    for missing in [&[][..], &[f64::NAN], &[f64::INFINITY]] {
        let figure = Figure::published("x", "", 1.0, missing, Criterion::AtMost(2.0));
        assert_eq!((figure.ours, figure.verdict), (None, Verdict::Differs));
    }
}

#[test]
fn several_seeds_give_the_median_and_its_spread() {
    let figure = Figure::published("x", "", 2.0, &[5.0, 1.0, 3.0], Criterion::Shown);
    assert_eq!(figure.ours, Some(3.0));
    assert_eq!(figure.spread, Some((1.0, 5.0)));
    assert_eq!(figure.ratio, Some(1.5));
}

#[test]
fn a_reason_is_kept_only_by_a_figure_that_differs() {
    let agreeing = Figure::published("x", "", 1.0, &[1.0], Criterion::Within(0.1)).because("y");
    assert_eq!(agreeing.why, None);
    let differing = Figure::published("x", "", 1.0, &[2.0], Criterion::Within(0.1)).because("y");
    assert_eq!(differing.why.as_deref(), Some("y"));
}

#[test]
fn numbers_are_as_long_as_they_need_to_be() {
    let shown: Vec<_> = [0.0, 1234.56, 12.34, 1.204, 0.1239, 0.01239, -3.0]
        .map(short)
        .into();
    assert_eq!(shown, ["0", "1235", "12.3", "1.2", "0.124", "0.0124", "-3"]);
}

#[test]
fn an_ecdf_ends_at_one_and_a_histogram_counts_everything() {
    let values: Vec<f64> = (1..=1000).map(f64::from).collect();
    let Shape::Steps(steps) = Shape::ecdf(&values, 100) else {
        panic!("an ECDF is a step function");
    };
    assert_eq!(steps.len(), 100);
    assert_eq!(steps[0], [10.0, 0.01]);
    assert_eq!(steps[99], [1000.0, 1.0]);
    assert_eq!(Shape::ecdf(&[], 10), Shape::Steps(Vec::new()));
    let Shape::Bars(bars) = Shape::histogram(&values, 37) else {
        panic!("a histogram has bars");
    };
    assert_eq!(bars.iter().map(|bar| bar[2]).sum::<f64>(), 1000.0);
    assert_eq!((bars[0][0], bars.len()), (1.0, 37));
    let Shape::Bars(one) = Shape::histogram(&[5.0, 5.0], 3) else {
        panic!("a histogram has bars");
    };
    assert_eq!(one.iter().map(|bar| bar[2]).sum::<f64>(), 2.0);
}

#[test]
fn a_record_survives_its_file_and_says_what_differs() {
    let mut table = Table::new("rows", &["a", "b"]);
    table.push(["1".to_owned(), "2".to_owned()]);
    let record = ExperimentRecord {
        id: "x".to_owned(),
        title: "y".to_owned(),
        source: "z".to_owned(),
        scale: Scale::Quick,
        command: "undertone lab run x".to_owned(),
        commit: "abc".to_owned(),
        seeds: vec![1, 2],
        measured: RunCosts {
            wall_s: 1.0,
            cpu_s: 2.0,
            peak_rss_mb: None,
        },
        scenarios: vec![],
        figures: vec![
            Figure::published("p", "ms", 1.0, &[2.0], Criterion::Within(0.1)).because("so"),
            Figure::ours("q", "ms", &[2.0]),
        ],
        tables: vec![table],
        charts: vec![
            Chart::new("c", Axis::linear("x"), Axis::log("y"))
                .with("s", Role::Model, Shape::Band(vec![[0.0, 1.0, 0.5, 2.0]]))
                .mark(1.0, "m"),
        ],
        notes: vec!["n".to_owned()],
        validity: vec![OutsideOfRuns {
            outside: OutsideChecked {
                rule: "r".to_owned(),
                says: "never seen".to_owned(),
            },
            runs: 3,
        }],
    };
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(
        serde_json::from_str::<ExperimentRecord>(&text).unwrap(),
        record
    );
    assert_eq!((record.judged(), record.differing().count()), (1, 1));
    let shown = record.to_string();
    assert!(shown.contains("DIFFERS: p: so"), "{shown}");
    assert!(
        shown.contains("NOT CHECKED in 3 simulations (r): never seen"),
        "{shown}"
    );
    assert!(shown.contains("0 of 1 figures agree"), "{shown}");
}

#[test]
fn a_folder_is_read_in_the_order_of_ids() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/platforms.json");
    let text = std::fs::read_to_string(fixture).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    assert!(matches!(
        read_folder(folder.path()),
        Err(FolderError::Empty { .. })
    ));
    write("1.json", &text);
    write(
        "2.json",
        &text.replace("\"id\": \"platforms\"", "\"id\": \"a\""),
    );
    write("figures.csv", "not a record");
    let ids =
        |records: Vec<ExperimentRecord>| records.into_iter().map(|r| r.id).collect::<Vec<_>>();
    assert_eq!(ids(read_folder(folder.path()).unwrap()), ["a", "platforms"]);
    write("3.json", "{\n\"id\": 3}");
    let said = read_folder(folder.path()).unwrap_err().to_string();
    assert!(
        said.contains("3.json is no record") && said.contains("line 2"),
        "{said}"
    );
    assert!(matches!(
        read_folder(&folder.path().join("none")),
        Err(FolderError::Unreadable { .. })
    ));
}

#[test]
fn files_beyond_the_bounds_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let large = std::fs::File::create(folder.path().join("large.json")).unwrap();
    large.set_len(MAX_RECORD_BYTES + 1).unwrap();
    let refused = read_folder(folder.path()).unwrap_err();
    assert!(matches!(refused, FolderError::TooLarge { .. }), "{refused}");
    for number in 0..MAX_RECORDS {
        std::fs::write(folder.path().join(format!("{number}.json")), "").unwrap();
    }
    let refused = read_folder(folder.path()).unwrap_err();
    assert!(matches!(refused, FolderError::TooMany { .. }), "{refused}");
}
