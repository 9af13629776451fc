//! `undertone lab report` as a user meets it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/lab/tests/records");

fn report(options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["lab", "report"])
        .args(options)
        .output()
        .expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_page_and_files_for_other_programs_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("new/page.html");
    let csv = folder.path().join("csv");
    let [page, files] = [&html, &csv].map(|path| path.to_str().unwrap());
    let options = ["--from", RECORDS, "--html", page, "--csv", files, "--json"];
    let output = report(&options);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let written: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(written["html"], page);
    assert_eq!(
        (&written["experiments"], &written["judged"]),
        (&4.into(), &10.into())
    );
    assert_eq!(written["differing"][0][0], "latency-2kb");
    let text = fs::read_to_string(&html).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>\n"));
    for file in written["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file(), "{file}");
    }
    assert!(csv.join("figures.parquet").is_file());
}

#[test]
fn people_are_told_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(RECORDS).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let output = report(&["--from", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("7 of 10 figures"), "{text}");
    assert!(
        text.contains("DIFFERS: latency-2kb: largest latency"),
        "{text}"
    );
    assert!(folder.path().join("report.html").is_file());
}

#[test]
fn a_folder_without_records_is_wrong_usage_and_a_broken_record_names_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().to_str().unwrap();
    for missing in [from, "no/such/folder"] {
        let output = report(&["--from", missing]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(
            said(&output).contains("undertone lab run"),
            "{}",
            said(&output)
        );
    }
    fs::write(folder.path().join("mine.json"), "{}").unwrap();
    let output = report(&["--from", from]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("mine.json is no record"),
        "{}",
        said(&output)
    );
    assert!(!folder.path().join("report.html").exists());
}
