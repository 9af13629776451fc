//! Measures this machine's TCP over an emulated network and prints a table.
//!
//! Exit codes: 0 done, 1 the work failed, 2 wrong usage.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use clap::Parser;
use parking_lot::Mutex;
use undertone_link::packet::Rate;
use undertone_testbed::kernel::{Case, KernelError, Measured, Row, measure, simulated_ms, table};
use undertone_testbed::{Congestion, can_run};

/// How long this machine's kernel takes for one message on one TCP connection.
#[derive(Debug, Parser)]
struct Args {
    /// Congestion control of the sender.
    #[arg(long, value_enum, default_value = "cubic")]
    congestion: Congestion,
    /// Sizes of messages, bytes.
    #[arg(long, value_delimiter = ',',
          default_values_t = [2_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000])]
    sizes: Vec<usize>,
    /// One-way delays, milliseconds.
    #[arg(long, value_delimiter = ',', default_values_t = [75, 100, 150])]
    delays_ms: Vec<u64>,
    /// Rate of each uplink and downlink, Mbit/s.
    #[arg(long, default_value_t = 100)]
    mbit_per_s: u64,
    /// Pause before the third message, milliseconds.
    #[arg(long, default_value_t = 10_000)]
    idle_ms: u64,
    /// Measurements of each case; the table shows medians.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Cases measured at the same time, each on a network of its own.
    #[arg(long, default_value_t = 8)]
    jobs: usize,
    /// Send buffer of the sender, bytes; without this option the kernel tunes it.
    #[arg(long)]
    send_buffer_bytes: Option<usize>,
    /// Print what `ss` says of the sender's socket after each message.
    #[arg(long)]
    sockets: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let Some(rate) = Rate::mbit_per_s(args.mbit_per_s) else {
        eprintln!(
            "error: --mbit-per-s {}: give a rate above 0",
            args.mbit_per_s
        );
        return ExitCode::from(2);
    };
    if let Err(missing) = can_run() {
        eprintln!("error: {missing}");
        return ExitCode::FAILURE;
    }
    // Without the right to this priority, the measurements are valid only on an idle machine.
    let _ = rustix::process::setpriority_process(None, -20);
    match run(&args, rate) {
        Ok(rows) => {
            print(&rows, args.congestion);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures all cases, several at a time.
fn run(args: &Args, rate: Rate) -> Result<Vec<Row>, KernelError> {
    let case = |one_way_ms, size_bytes| Case {
        size_bytes,
        one_way_ms,
        rate,
        congestion: args.congestion,
        idle: Duration::from_millis(args.idle_ms),
        send_buffer_bytes: args.send_buffer_bytes,
        sockets: args.sockets,
    };
    let of_delay = |delay: &u64| args.sizes.iter().map(|size| case(*delay, *size)).collect();
    let cases: Vec<Case> = args
        .delays_ms
        .iter()
        .flat_map(|ms| -> Vec<_> { of_delay(ms) })
        .collect();
    let total = cases.len() * args.runs;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<Measured, KernelError>)>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= total {
                        return;
                    }
                    let place = turn % cases.len();
                    let measured = measure(&cases[place]);
                    show(turn + 1, total, &cases[place], &measured);
                    let mut results = results.lock();
                    results.push((place, measured));
                }
            });
        }
    });
    let mut rows: Vec<_> = cases
        .into_iter()
        .map(|case| Row {
            case,
            runs: Vec::new(),
            predicted_ms: Some(simulated_ms(&case)),
        })
        .collect();
    for (place, measured) in results.into_inner() {
        rows[place].runs.push(measured?);
    }
    Ok(rows)
}

/// Prints progress on standard error.
fn show(turn: usize, total: usize, case: &Case, measured: &Result<Measured, KernelError>) {
    let Ok(measured) = measured else {
        return;
    };
    let [cold, warm, idle] = measured.took.map(|took| took.as_secs_f64() * 1000.0);
    eprintln!(
        "{turn}/{total}: {} bytes, {} ms: cold {cold:.2} warm {warm:.2} idle {idle:.2} ms; \
         packets late {} us on average, {} us at most",
        case.size_bytes,
        case.one_way_ms,
        measured.packets.late_mean_ns() / 1000,
        measured.packets.late_max_ns / 1000,
    );
    for state in &measured.sockets {
        eprintln!("  {state}");
    }
}

fn print(rows: &[Row], congestion: Congestion) {
    let runs: Vec<_> = rows.iter().flat_map(|row| &row.runs).collect();
    let dropped: u64 = runs
        .iter()
        .map(|run| run.packets.queue_dropped + run.packets.lost)
        .sum();
    let late = runs
        .iter()
        .map(|run| run.packets.late_mean_ns())
        .max()
        .unwrap_or(0);
    println!(
        "ms from the write to the last byte read, measured / simulated, {}:\n",
        congestion.name()
    );
    println!("{}", table(rows));
    println!(
        "{dropped} packets dropped; packets late by {} us on average in the worst run",
        late / 1000
    );
}
