use std::fs::{self, File};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::{csv, write};
use crate::record::{Axis, Chart, ExperimentRecord, Role, Shape, Table, read_folder};

fn records() -> Vec<ExperimentRecord> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    read_folder(&folder).unwrap()
}

#[test]
fn every_figure_chart_and_table_is_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let records = records();
    let files = write(&records, &folder.path().join("new")).unwrap();
    let charts: usize = records.iter().map(|record| record.charts.len()).sum();
    let tables: usize = records.iter().map(|record| record.tables.len()).sum();
    assert_eq!(files.len(), 2 + charts + tables);
    let hops = fs::read_to_string(folder.path().join("new/latency-2kb.chart-3.csv")).unwrap();
    let lines: Vec<&str> = hops.lines().collect();
    assert_eq!(lines[0], "series,role,shape,x,x_to,y,low,high,word");
    assert_eq!(lines[4], "ours,ours,band,4,,552,540,570,");
    assert_eq!(lines[8], "published,published,line,1,,6,,,");
    let rows = fs::read_to_string(folder.path().join("new/scale.table-1.csv")).unwrap();
    assert_eq!(rows.lines().count(), 61);
}

#[test]
fn figures_have_a_row_each_in_csv_and_in_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let records = records();
    write(&records, folder.path()).unwrap();
    let count: usize = records.iter().map(|record| record.figures.len()).sum();
    let text = fs::read_to_string(folder.path().join("figures.csv")).unwrap();
    assert_eq!(text.lines().count(), count + 1);
    let copies = "latency-2kb,copies per delivery,,,,4.31,4.28,4.36,,,shown,,full,5,4d1ebb5";
    assert!(text.lines().any(|line| line == copies), "{text}");
    let file = File::open(folder.path().join("figures.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().to_string())
        .collect();
    assert_eq!(rows.len(), count);
    assert_eq!(
        rows[6],
        "{experiment: \"latency-2kb\", figure: \"copies per delivery\", unit: \"\", \
         published: null, statement: null, ours: 4.31, low: 4.28, high: 4.36, ratio: null, \
         criterion: \"\", verdict: \"shown\", why: null, scale: \"full\", seeds: 5.0, \
         commit: \"4d1ebb5\"}"
    );
}

#[test]
fn no_records_make_files_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(write(&[], folder.path()).unwrap().len(), 2);
    let bytes = fs::read(folder.path().join("figures.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn cells_with_commas_quotes_and_lines_are_quoted() {
    let mut table = Table::new("t", &["a,b", "c"]);
    table.push(["say \"hi\"".to_owned(), "two\nlines".to_owned()]);
    assert_eq!(
        csv::table(&table),
        "\"a,b\",c\n\"say \"\"hi\"\"\",\"two\nlines\"\n"
    );
}

#[test]
fn values_over_words_name_the_word() {
    let bars = Shape::Bars(vec![[-0.35, 0.0, 5.0], [0.65, 1.0, 6.0], [8.0, 9.0, 7.0]]);
    let chart = Chart::new("t", Axis::words("x", &["one", "two"]), Axis::linear("y"));
    let text = csv::chart(&chart.with("s", Role::Model, bars));
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "s,model,bars,-0.35,0,5,,,one",
            "s,model,bars,0.65,1,6,,,two",
            "s,model,bars,8,9,7,,,"
        ]
    );
}
