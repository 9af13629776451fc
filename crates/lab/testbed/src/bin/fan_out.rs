//! Measures how one host's connections share its uplink, and compares the simulator with what was measured.
//!
//! Exit codes: 0 done, 1 the work failed, 2 wrong usage.

use std::fs;
use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use undertone_link::{SendBuffer, Sharing};
use undertone_testbed::can_run;
use undertone_testbed::fan::{
    FanCase, FanRow, FanStack, HEADER, errors, listen, measure, parse, receive, send, simulated,
    table,
};

/// How one host's connections share its uplink.
#[derive(Debug, Parser)]
#[command(name = "fan-out")]
struct Command {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Measure this machine's kernel; prints a row of CSV for each message on each connection.
    Measure(Cases),
    /// Accept the connections of one case on an address, and report when its messages arrive.
    Receive {
        /// Address to listen on.
        #[arg(long)]
        at: SocketAddrV4,
        #[command(flatten)]
        case: Cases,
    },
    /// Send the messages of one case to a receiver; prints a row of CSV for each message on each connection.
    Send {
        /// Address of the receiver.
        #[arg(long)]
        to: SocketAddrV4,
        #[command(flatten)]
        case: Cases,
    },
    /// Print what the simulator says, as rows of the same form.
    Predict {
        /// TCP stack to simulate.
        #[arg(long, value_enum)]
        stack: FanStack,
        #[command(flatten)]
        cases: Cases,
    },
    /// Compare measured rows with the simulator.
    Compare {
        /// File with the rows.
        file: PathBuf,
        /// TCP stack to simulate.
        #[arg(long, value_enum)]
        stack: FanStack,
        /// Let sockets take messages whole, instead of the stack's send buffer.
        #[arg(long)]
        whole: bool,
        /// Packets of a connection's turn on the uplink, instead of the stack's rule.
        #[arg(long)]
        turn_packets: Option<u32>,
    },
}

/// Cases: each combination of the values.
#[derive(Clone, Debug, Args)]
struct Cases {
    /// Rates of the uplink, Mbit/s.
    #[arg(long, value_delimiter = ',', default_values_t = [38, 100])]
    mbit_per_s: Vec<u64>,
    /// One-way delays, milliseconds.
    #[arg(long, value_delimiter = ',', default_values_t = [100])]
    one_way_ms: Vec<u64>,
    /// Numbers of connections.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 50, 100])]
    connections: Vec<u32>,
    /// Lengths of the messages, bytes.
    #[arg(long, value_delimiter = ',',
          default_values_t = [100_000, 150_000, 250_000, 500_000, 1_000_000])]
    size_bytes: Vec<u64>,
    /// Pause before the third message, milliseconds.
    #[arg(long, default_value_t = 5_000)]
    idle_ms: u64,
}

impl Cases {
    fn all(&self) -> Vec<FanCase> {
        let mut cases = Vec::new();
        for mbit_per_s in &self.mbit_per_s {
            for one_way_ms in &self.one_way_ms {
                for connections in &self.connections {
                    for size_bytes in &self.size_bytes {
                        cases.push(FanCase {
                            mbit_per_s: *mbit_per_s,
                            one_way_ms: *one_way_ms,
                            connections: *connections,
                            size_bytes: *size_bytes,
                            idle_ms: self.idle_ms,
                        });
                    }
                }
            }
        }
        cases
    }

    /// Returns the only case; fails if the options give several.
    fn single_case(&self) -> Result<FanCase, String> {
        match self.all()[..] {
            [case] => Ok(case),
            ref cases => Err(format!(
                "{} cases; give one value for each option",
                cases.len()
            )),
        }
    }
}

fn main() -> ExitCode {
    let command = Command::parse();
    match run(command.role) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(role: Role) -> Result<(), String> {
    match role {
        Role::Measure(cases) => {
            can_run().map_err(|missing| missing.to_string())?;
            // Without the right to this priority, the measurements are valid only on an idle machine.
            let _ = rustix::process::setpriority_process(None, -20);
            let cases = cases.all();
            println!("{HEADER}");
            for (at, case) in cases.iter().enumerate() {
                let (times, packets) = measure(case).map_err(|error| error.to_string())?;
                print!("{}", FanRow::lines(case, &times));
                let last = times[0].iter().map(|time| time.done_us).max().unwrap_or(0);
                eprintln!(
                    "{}/{}: {case:?}: cold {} ms; packets late by {} us on average, {} us at most",
                    at + 1,
                    cases.len(),
                    last / 1_000,
                    packets.late_mean_ns() / 1_000,
                    packets.late_max_ns / 1_000,
                );
            }
            Ok(())
        }
        Role::Receive { at, case } => {
            let case = case.single_case()?;
            let listener = listen(at, &case, None).map_err(|error| format!("{at}: {error}"))?;
            receive(&listener, &case).map_err(|error| error.to_string())
        }
        Role::Send { to, case } => {
            let case = case.single_case()?;
            let times = send(to, &case, None).map_err(|error| format!("{to}: {error}"))?;
            print!("{}", FanRow::lines(&case, &times));
            Ok(())
        }
        Role::Predict { stack, cases } => {
            println!("{HEADER}");
            for case in cases.all() {
                print!(
                    "{}",
                    FanRow::lines(&case, &simulated(&case, stack.profile()))
                );
            }
            Ok(())
        }
        Role::Compare {
            file,
            stack,
            whole,
            turn_packets,
        } => {
            let mut profile = stack.profile();
            if whole {
                profile.send_buffer = SendBuffer::Fixed { bytes: 4 << 20 };
            }
            if let Some(packets) = turn_packets {
                profile.sharing = Sharing::Turns { packets };
            }
            let text = fs::read_to_string(&file);
            let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
            let measured = parse(&text).map_err(|error| format!("{}: {error}", file.display()))?;
            let rows: Vec<_> = measured
                .into_iter()
                .map(|(case, times)| (case, times, simulated(&case, profile)))
                .collect();
            println!("{}", table(&rows));
            let errors = errors(rows.iter().map(|(_, real, model)| (real, model)));
            println!(
                "{} of {} figures within 5 % or 2 ms; the largest error {:.1} %; \
                 completions on single connections off by {:.1} % on average",
                errors.within,
                errors.of,
                errors.largest * 100.0,
                errors.mean_of_connections * 100.0,
            );
            Ok(())
        }
    }
}
