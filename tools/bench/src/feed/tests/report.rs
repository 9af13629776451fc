use super::{Ratios, Report, Sample};
use crate::feed::subject::Cost;
use crate::output;

fn sample(new_us: f64, duplicate_us: f64) -> Sample {
    Sample {
        new_us,
        duplicate_us,
    }
}

#[test]
fn the_new_message_after_the_duplicates_is_taken_off() {
    let cost = Cost {
        new_us: 1_000,
        again_us: 300,
    };
    assert_eq!(Sample::of(cost, 10), sample(100.0, 20.0));
    let less_than_one = Cost {
        new_us: 1_000,
        again_us: 50,
    };
    assert_eq!(Sample::of(less_than_one, 10), sample(100.0, 0.0));
}

#[test]
fn medians_are_compared_with_the_first_variant_of_the_same_size() {
    let mut report = Report::new(10, 8);
    for (size, label, new_us, duplicate_us) in [
        (16, "a", 9.0, 4.0),
        (16, "b", 1.0, 6.0),
        (16, "a", 2.0, 4.0),
        (16, "b", 2.0, 6.0),
        (16, "a", 4.0, 4.0),
        (16, "b", 9.0, 6.0),
        (99, "a", 8.0, 0.0),
        (99, "b", 4.0, 6.0),
    ] {
        report.add(size, label, sample(new_us, duplicate_us));
    }
    let rows: Vec<_> = report
        .rows
        .iter()
        .map(|row| (row.label.as_str(), row.median, row.ratio_to_first))
        .collect();
    let ratios = |new, duplicate| Ratios { new, duplicate };
    assert_eq!(
        rows,
        [
            ("a", sample(4.0, 4.0), ratios(Some(1.0), Some(1.0))),
            ("b", sample(2.0, 6.0), ratios(Some(0.5), Some(1.5))),
            ("a", sample(8.0, 0.0), ratios(Some(1.0), None)),
            ("b", sample(4.0, 6.0), ratios(Some(0.5), None)),
        ]
    );
}

#[test]
fn both_forms_show_the_figures() {
    let mut report = Report::new(10, 8);
    report.add(16, "a", sample(12.34, 0.0));
    let table = report.table();
    for cell in [" 16 |", "| a ", " 12.3 |", " 0.0 |", " 1.00 |", " - |"] {
        assert!(table.contains(cell), "{cell} in\n{table}");
    }
    assert!(table.contains("10 messages a round, forwarded to 7"));
    let json: serde_json::Value = serde_json::from_str(&output::json(&report)).unwrap();
    assert_eq!(json["rows"][0]["median"]["new_us"], 12.34);
    assert_eq!(json["rows"][0]["rounds"][0]["duplicate_us"], 0.0);
    assert!(json["rows"][0]["ratio_to_first"]["duplicate"].is_null());
}
