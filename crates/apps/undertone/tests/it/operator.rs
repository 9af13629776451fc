//! The program without the feature `lab`, as an operator builds it.

use std::process::Command;

/// Packages that only the laboratory needs.
const LABORATORY: [&str; 8] = [
    "undertone-fleet",
    "undertone-lab",
    "undertone-link",
    "undertone-sim",
    "undertone-testbed",
    "parquet",
    "tempfile",
    "tun-rs",
];

/// Names of the packages in the program with these features.
fn packages(features: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "undertone", "--edges", "normal"])
        .args([
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
            "--offline",
        ])
        .args(features)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs this test");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let tree = String::from_utf8(output.stdout).expect("cargo prints text");
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn an_operators_program_has_no_laboratory() {
    let (all, operators) = (packages(&[]), packages(&["--no-default-features"]));
    let is_in = |packages: &[String], name: &str| packages.iter().any(|package| package == name);
    for name in LABORATORY {
        assert!(is_in(&all, name), "{name} is needed by nobody");
        assert!(!is_in(&operators, name), "{name}");
    }
    assert!(is_in(&operators, "undertone-node"));
}
