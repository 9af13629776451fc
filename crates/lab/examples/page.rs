//! Writes the page of a folder of records: `page FOLDER FILE`. The command line does the same; this
//! builds in a tenth of the time, which counts when looks are tried.

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use undertone_lab::page::page;
use undertone_lab::record::read_folder;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, file] = paths.as_slice() else {
        return Err("usage: page FOLDER FILE".into());
    };
    fs::write(file, page(&read_folder(folder)?))?;
    Ok(())
}
