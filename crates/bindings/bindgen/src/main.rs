//! Writes the sources with which other languages use a library. Exit codes: 0 success, 1 failure, 2 wrong usage.

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: undertone-bindgen LIBRARY FOLDER

  LIBRARY  library that cargo built, such as target/debug/libundertone_bindings.so
  FOLDER   where to write the sources, in the folders c, kotlin, python and swift";

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let [library, folder] = args.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match undertone_bindgen::write_sources(Path::new(library), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
