//! Attacks on a real node over loopback, with one table of their effects on its users. See docs/measurements/hostile.md.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use undertone_attacks::attacks::{ALL, Attack};
use undertone_attacks::table::{Report, Row};
use undertone_attacks::test_network::Measured;
use undertone_attacks::traffic::Load;
use undertone_attacks::{HostileError, matrix, node, soak};

/// Name of the restart matrix in `--only`.
const MATRIX: &str = "matrix";
/// Seconds of a run per newcomer. Newcomers arrive every two seconds, so that the last ones have time left.
const SECONDS_PER_NEWCOMER: u32 = 3;

/// Runs the attacks that docs/measurements/hostile.md describes on a node, and prints one table.
#[derive(Debug, Parser)]
struct HostileOptions {
    /// Names of attacks, separated by commas; `matrix` is the restart matrix.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Print the names of the attacks and what they do.
    #[arg(long)]
    list: bool,
    /// Program of the nodes, possibly of another commit [default: undertone, beside this program].
    #[arg(long)]
    node: Option<PathBuf>,
    /// Time for which messages are published in each run, in seconds.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Number of messages published each second.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rate: u32,
    /// Payload of each message, bytes.
    #[arg(long, default_value_t = 1_000)]
    payload_bytes: usize,
    /// Run a network under steady load for UNDERTONE_SOAK_S seconds instead, and watch what its nodes hold.
    #[arg(long, conflicts_with = "only")]
    soak: bool,
    /// Time of a soak, in seconds.
    #[arg(long, env = "UNDERTONE_SOAK_S", default_value_t = 7_200, hide = true)]
    soak_s: u64,
    /// Print JSON instead of a table.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a Markdown table.
    #[arg(long)]
    markdown: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = HostileOptions::parse();
    if options.list {
        for attack in ALL {
            println!("{:22} {}", attack.name, attack.about);
        }
        println!("{MATRIX:22} a node goes away in five ways, for 0, 2, 15 and 70 s");
        return ExitCode::SUCCESS;
    }
    let known = |name: &String| name == MATRIX || ALL.iter().any(|attack| attack.name == name);
    if let Some(name) = options.only.iter().find(|name| !known(name)) {
        eprintln!("error: no attack is called {name:?}; --list shows their names");
        return ExitCode::from(2);
    }
    if options.soak {
        return soaked(&options).await;
    }
    match run(&options).await {
        Ok(report) => {
            if options.json {
                println!("{}", report.json());
            } else {
                println!("{}", report.text(options.markdown));
            }
            if report.is_good() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn soaked(options: &HostileOptions) -> ExitCode {
    match soak::run(&program(options), Duration::from_secs(options.soak_s)).await {
        Ok(report) => {
            println!("{report}");
            match report.is_good() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Program of the nodes.
fn program(options: &HostileOptions) -> PathBuf {
    options.node.clone().unwrap_or_else(|| {
        let this = std::env::current_exe().unwrap_or_default();
        node::program(&this)
    })
}

async fn run(options: &HostileOptions) -> Result<Report, HostileError> {
    let program = program(options);
    let is_wanted =
        |name: &str| options.only.is_empty() || options.only.iter().any(|wanted| wanted == name);
    let mut report = Report::default();
    for attack in ALL.iter().filter(|attack| is_wanted(attack.name)) {
        eprintln!("{}: {}", attack.name, attack.about);
        let without = measure(&program, attack, options, false).await?;
        let with = measure(&program, attack, options, true).await?;
        report.rows.push(Row::new(attack, &without, &with));
    }
    if is_wanted(MATRIX) {
        eprintln!("{MATRIX}: about five minutes");
        report.matrix = matrix::run(&program, &matrix::DOWN_S).await?;
    }
    Ok(report)
}

async fn measure(
    program: &std::path::Path,
    attack: &Attack,
    options: &HostileOptions,
    is_attacked: bool,
) -> Result<Measured, HostileError> {
    let (mut stage, tasks) = attack.stage(program, is_attacked).await?;
    let load = Load {
        messages: options.seconds * options.rate,
        interval: Duration::from_secs(1) / options.rate,
        payload_bytes: options.payload_bytes,
        patience: Duration::from_secs(10),
        prompt: Duration::from_secs(1),
    };
    let newcomers = (options.seconds / SECONDS_PER_NEWCOMER).max(1);
    let measured = stage.measure(&load, newcomers).await;
    drop(tasks);
    Ok(measured)
}
