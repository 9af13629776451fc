//! `rln bench` measures what it says; what the figures are depends on the machine.

use serde_json::Value;

use crate::support::place::Place;

fn positive(value: &Value) -> f64 {
    let number = value.as_f64().unwrap_or_else(|| panic!("{value}"));
    assert!(number > 0.0 && number.is_finite(), "{number}");
    number
}

fn sizes(rows: &Value) -> Vec<u64> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["size_kb"].as_u64().unwrap()).collect()
}

#[test]
fn figures_of_all_kinds() {
    let figures = Place::new().run("rln bench --runs 1 --json").json(0);
    let proofs = &figures["proofs"];
    assert_eq!(sizes(&proofs["by_size"]), [1, 10, 50, 150, 500]);
    for row in proofs["by_size"].as_array().unwrap() {
        // A token saves most of the work, whatever the machine.
        assert!(positive(&row["sign_ms"]) < positive(&row["generation_ms"]));
        positive(&row["verification_ms"]);
    }
    positive(&proofs["token_prepare_ms"]);
    assert_eq!(proofs["batch"], 32);
    positive(&proofs["batch_per_proof_ms"]);
    assert_eq!(sizes(&proofs["hashing"]), [2, 25, 100, 500]);
    let hashing = proofs["hashing"].as_array().unwrap();
    assert!(hashing.iter().all(|row| positive(&row["hashing_ms"]) > 0.0));

    let tree = &figures["tree"];
    assert_eq!(tree["members"], 10_000);
    positive(&tree["build_ms"]);
    assert_eq!(tree["size_mb"], 0.640_352);
    if cfg!(target_os = "linux") {
        let memory = &figures["memory"];
        assert!(positive(&memory["with_rln_mb"]) > positive(&memory["without_rln_mb"]));
    }
    let published = &figures["published"];
    assert_eq!(published["platforms"].as_array().unwrap().len(), 5);
    assert_eq!(sizes(&published["hashing"]), [2, 25, 100, 500]);
}

#[test]
fn no_runs_is_no_measurement() {
    Place::new()
        .run("rln bench --runs 0")
        .failed(2, &["--runs"]);
}
