use std::time::Duration;

use undertone_conformance::protocol::Stat;

use super::{Look, Ratios, Report, Usage};
use crate::output;

fn look(at_ms: u64, cpu_us: u64, rss_kib: u64) -> Look {
    Look {
        at: Duration::from_millis(at_ms),
        stat: Stat { cpu_us, rss_kib },
    }
}

fn usage(cpu_percent: f64, rss_mib: f64) -> Usage {
    Usage {
        cpu_percent,
        rss_mib,
    }
}

#[test]
fn usage_is_a_mean_of_processor_time_and_a_peak_of_memory() {
    let looks = [
        look(500, 7_000, 1_024),
        look(1_500, 9_000, 4_096),
        look(2_500, 47_000, 2_048),
    ];
    assert_eq!(Usage::of(&looks), usage(2.0, 4.0));
    assert_eq!(Usage::of(&looks[..1]), usage(0.0, 1.0));
    assert_eq!(Usage::of(&[]), usage(0.0, 0.0));
}

#[test]
fn variants_are_compared_with_the_first() {
    let mut report = Report::new(50, 20);
    report.add("a".into(), 6, usage(2.0, 10.0));
    report.add("b".into(), 6, usage(1.0, 30.0));
    report.add("c".into(), 6, usage(4.0, 5.0));
    let ratios: Vec<_> = report.rows.iter().map(|row| row.ratio_to_first).collect();
    let expected = [(1.0, 1.0), (0.5, 3.0), (2.0, 0.5)].map(|(cpu, rss)| Ratios {
        cpu: Some(cpu),
        rss: Some(rss),
    });
    assert_eq!(ratios, expected);
}

#[test]
fn both_forms_show_the_figures() {
    let mut report = Report::new(50, 20);
    report.add("a".into(), 6, usage(0.0, 12.34));
    let table = report.table();
    for cell in ["| a ", " 6 |", " 0.00 |", " 12.3 |", " - |", " 1.00 |"] {
        assert!(table.contains(cell), "{cell} in\n{table}");
    }
    let json: serde_json::Value = serde_json::from_str(&output::json(&report)).unwrap();
    assert_eq!(json["rows"][0]["rss_mib"], 12.34);
    assert_eq!(json["rows"][0]["in_mesh"], 6);
    assert!(json["rows"][0]["ratio_to_first"]["cpu"].is_null());
}
