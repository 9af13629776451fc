//! Measures the flow control of multiplexers: messages on one stream over an emulated delay, with the frames and
//! window updates that they cause on the wire.

use std::time::Duration;

use clap::Args;
use comfy_table::Table;
use undertone_bench::mux::{Implementation, MuxError, Recording, Transfer};

/// Records the frames of yamux between two ends of one implementation.
#[derive(Debug, Args)]
pub(crate) struct MuxWindowsOptions {
    /// Implementation of both ends: rust, js or go.
    #[arg(value_parser = implementation)]
    implementation: Implementation,
    /// Number of messages on the stream.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    messages: u32,
    /// Length of each message.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    bytes: u32,
    /// Delay of the path, one way.
    #[arg(long, default_value_t = 50)]
    one_way_ms: u64,
    /// Time before each message, and after the last.
    #[arg(long, default_value_t = 1_000)]
    pause_ms: u64,
    /// Print every frame as CSV instead of a table of messages.
    #[arg(long)]
    csv: bool,
}

fn implementation(text: &str) -> Result<Implementation, String> {
    let mut names = Implementation::NAMES.iter();
    let known = names.find(|(name, _)| *name == text);
    known
        .map(|(_, known)| *known)
        .ok_or_else(|| "give rust, js or go".to_owned())
}

pub(crate) async fn run(options: &MuxWindowsOptions) -> Result<String, MuxError> {
    let transfer = Transfer {
        messages: options.messages,
        message_bytes: options.bytes,
        pause: Duration::from_millis(options.pause_ms),
        one_way: Duration::from_millis(options.one_way_ms),
    };
    let recording = transfer.record(options.implementation).await?;
    Ok(match options.csv {
        true => recording.csv().trim_end().to_owned(),
        false => table(&recording, options.one_way_ms).to_string(),
    })
}

fn table(recording: &Recording, one_way_ms: u64) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header([
        "message",
        "frames",
        "longest, bytes",
        "window updates",
        "granted, bytes",
        "first to last frame, ms",
        "round trips",
    ]);
    for (number, seen) in (1..).zip(recording.seen()) {
        let lasts_ms = seen.lasts_us as f64 / 1e3;
        let round_trips = lasts_ms / (2 * one_way_ms).max(1) as f64;
        table.add_row([
            number.to_string(),
            seen.frames.to_string(),
            seen.longest_bytes.to_string(),
            seen.updates.to_string(),
            seen.granted_bytes.to_string(),
            format!("{lasts_ms:.1}"),
            format!("{round_trips:.2}"),
        ]);
    }
    table
}
