//! Task of the campaign `start`: measures the size of an operator's program, and the time from its start until it
//! listens.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Environment variable with the path of a program to measure instead of the one built by the campaign.
const PROGRAM: &str = "UNDERTONE_START_PROGRAM";

/// Number of starts of each kind.
const STARTS: usize = 20;

/// Maximum size of the program without symbols, bytes.
const SIZE_MAX_BYTES: u64 = 40_000_000;
/// Maximum time until a node listens.
const START_MAX: Duration = Duration::from_millis(300);

/// Flags of every node: on loopback, on free ports.
const EVERYWHERE: [&str; 5] = [
    "node",
    "--json",
    "--listen-address=127.0.0.1",
    "--tcp-port=0",
    "--rest-port=0",
];

/// Kinds of nodes, with their flags.
const KINDS: [(&str, &[&str]); 3] = [
    ("without rate limiting", &["--rln=false"]),
    ("with rate limiting, as by default", &[]),
    (
        "and discv5, store, WebSocket, QUIC",
        &[
            "--discv5-discovery=true",
            "--discv5-udp-port=0",
            "--store=true",
            "--websocket=true",
            "--ws-port=0",
            "--quic-support=true",
            "--quic-port=0",
        ],
    ),
];

/// Measures the program, and prints the results and the missed goals. Returns whether no goal was missed.
pub(crate) fn run(target: &Path) -> io::Result<bool> {
    let built = || target.join("dist/undertone");
    let program = env::var_os(PROGRAM).map_or_else(built, PathBuf::from);
    let missed = measure(&program, &target.join("start"))?;
    for goal in &missed {
        eprintln!("missed: {goal}");
    }
    Ok(missed.is_empty())
}

/// Prints sizes and times; returns the goals that were missed.
fn measure(program: &Path, folder: &Path) -> io::Result<Vec<String>> {
    let mut missed = Vec::new();
    fs::create_dir_all(folder)?;
    println!("| operator's program | MB |\n| --- | ---: |");
    let built = fs::metadata(program)?.len();
    println!("| as built, with line tables | {} |", megabytes(built));
    for (what, option) in [
        ("without line tables", "--strip-debug"),
        ("without symbols", "--strip-all"),
    ] {
        let size = stripped(program, &folder.join("undertone"), option)?;
        println!("| {what} | {} |", megabytes(size));
        if option == "--strip-all" && size >= SIZE_MAX_BYTES {
            missed.push(format!("{} MB {what}", megabytes(size)));
        }
    }
    println!("\n| from start to listening, {STARTS} starts | median, s | max, s |");
    println!("| --- | ---: | ---: |");
    for (kind, flags) in KINDS {
        let (mut new, mut again) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let data = folder.join("data");
            // The folder may not exist, which is also a new start.
            let _ = fs::remove_dir_all(&data);
            new.push(start(program, &data, flags)?);
            again.push(start(program, &data, flags)?);
        }
        for (place, mut times) in [("new folder", new), ("its folder again", again)] {
            let (median, max) = median_and_max(&mut times);
            let row = format!("{kind}; {place}");
            println!(
                "| {row} | {:.3} | {:.3} |",
                median.as_secs_f64(),
                max.as_secs_f64()
            );
            if median >= START_MAX {
                missed.push(format!("{} s, {row}", median.as_secs_f64()));
            }
        }
    }
    Ok(missed)
}

/// Returns the size of the program after `strip`, bytes.
fn stripped(program: &Path, copy: &Path, option: &str) -> io::Result<u64> {
    let mut command = Command::new("strip");
    let status = command
        .arg(option)
        .arg("-o")
        .arg(copy)
        .arg(program)
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!("strip {option}: {status}")));
    }
    Ok(fs::metadata(copy)?.len())
}

/// Returns the time from the start of a node's process until it reports its addresses; then stops the node.
fn start(program: &Path, data: &Path, flags: &[&str]) -> io::Result<Duration> {
    let log = data.with_extension("log");
    let mut command = Command::new(program);
    command.args(EVERYWHERE).args(flags);
    command.arg("--data-dir").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(File::create(&log)?);
    let began = Instant::now();
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().expect("stdout was asked to be piped");
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    let read = stdout.read_line(&mut line);
    let took = began.elapsed();
    // A node stopped by this signal saves its state for the next start. It may also have ended by itself.
    let stopped = Command::new("sh")
        .args(["-c", "kill \"$0\"", &child.id().to_string()])
        .status();
    child.wait()?;
    read.and(stopped)?;
    if !line.starts_with('{') {
        return Err(io::Error::other(fs::read_to_string(&log)?));
    }
    Ok(took)
}

/// Returns median and maximum of the times, of which there is at least one.
fn median_and_max(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_depend_on_the_order() {
        let mut times = [3, 1, 9, 2, 4].map(Duration::from_secs);
        let (median, max) = median_and_max(&mut times);
        assert_eq!((median.as_secs(), max.as_secs()), (3, 9));
    }

    #[test]
    fn a_program_that_does_not_start_is_an_error_with_what_it_said() {
        let folder = env::temp_dir().join(format!("undertone-start-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let data = folder.join("data");
        // `ls` reports an unknown option.
        let error = start(Path::new("ls"), &data, &[]).unwrap_err();
        assert!(error.to_string().contains("ls: "), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
