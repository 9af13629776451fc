//! Writes the page of a folder of records, and with a third argument also the files for other
//! programs: `page FOLDER FILE [CSV]`. `undertone lab report` does the same, but this builds in a
//! tenth of the time, which helps when trying out styles.

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use undertone_lab::export;
use undertone_lab::record::read_folder;
use undertone_pages::page;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, file, csv @ ..] = paths.as_slice() else {
        return Err("usage: page FOLDER FILE [CSV]".into());
    };
    let records = read_folder(folder)?;
    fs::write(file, page(&records))?;
    if let [csv, ..] = csv {
        export::write(&records, csv)?;
    }
    Ok(())
}
