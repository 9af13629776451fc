use super::Report;
use crate::chain::summary::{Row, Spread};
use crate::output;

fn row(label: &str, size_bytes: usize, p50_ms: f64) -> Row {
    Row {
        label: label.to_owned(),
        size_bytes,
        rate_per_s: Some(10.0),
        expected: 4,
        refused: 0,
        delivered: 3,
        received: vec![4, 3],
        end_to_end: None,
        hop: Some(Spread {
            p50_ms,
            p95_ms: 8.0,
        }),
        cpu_ms_per_message: vec![p50_ms / 2.0; 3],
        rss_mib: vec![10.0, 30.0],
    }
}

#[test]
fn every_load_is_compared_with_its_own_first_variant() {
    let rows = vec![
        row("a", 16, 2.0),
        row("b", 16, 1.0),
        row("a", 99, 4.0),
        row("b", 99, 6.0),
    ];
    let report = Report::new(3, false, rows);
    let ratios: Vec<_> = report
        .rows
        .iter()
        .map(|row| row.ratio_to_first.hop_p50)
        .collect();
    assert_eq!(ratios, [Some(1.0), Some(0.5), Some(1.0), Some(1.5)]);
    assert_eq!(report.rows[1].ratio_to_first.cpu, Some(0.5));
    assert_eq!(report.rows[1].ratio_to_first.end_to_end_p50, None);
}

#[test]
fn both_forms_show_the_figures() {
    let report = Report::new(3, false, vec![row("a", 16, 2.0)]);
    let table = report.table();
    for cell in ["| 3/4 ", " 2.00 ", " 8.00 ", "| - "] {
        let squeezed = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains(cell.trim()), "{cell} in\n{table}");
    }
    let json: serde_json::Value = serde_json::from_str(&output::json(&report)).unwrap();
    assert_eq!(json["rows"][0]["hop"]["p95_ms"], 8.0);
    assert_eq!(json["rows"][0]["ratio_to_first"]["rss"], 1.0);
}
