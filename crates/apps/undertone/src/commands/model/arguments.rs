//! Parameters of the formulas on the command line.

use undertone_lab::model::tables::FormulaParams;

/// Parameters of the formulas; the defaults are the paper's.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Given {
    /// Number of nodes in the network
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(2..), conflicts_with = "scenario")]
    nodes: u64,
    /// Mesh degree of each node
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=10_000), conflicts_with = "scenario")]
    degree: u32,
    /// Size of a message, bytes
    #[arg(
        long = "size",
        value_name = "BYTES",
        default_value_t = 50_000,
        conflicts_with = "scenario"
    )]
    size_bytes: u64,
    /// Rate of a link, megabits per second
    #[arg(long = "mbit-per-s", value_name = "RATE", default_value_t = 100.0, value_parser = positive, conflicts_with = "scenario")]
    mbit_per_s: f64,
    /// One-way delay of a link, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 75.0, value_parser = not_negative, conflicts_with = "scenario")]
    one_way_ms: f64,
    /// Time to generate a proof, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 276.3, value_parser = not_negative, conflicts_with = "scenario")]
    generation_ms: f64,
    /// Time to verify a proof at each hop, milliseconds
    #[arg(long, value_name = "MS", default_value_t = 4.5, value_parser = not_negative, conflicts_with = "scenario")]
    verification_ms: f64,
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NumberError {
    #[error("expected a number")]
    NotANumber,
    #[error("expected a number {0}")]
    Bound(&'static str),
}

fn not_negative(text: &str) -> Result<f64, NumberError> {
    let value: f64 = text.parse().map_err(|_| NumberError::NotANumber)?;
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(NumberError::Bound("of 0 or more"))
    }
}

fn positive(text: &str) -> Result<f64, NumberError> {
    match not_negative(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err(NumberError::Bound("above 0")),
    }
}

impl From<&Given> for FormulaParams {
    fn from(given: &Given) -> Self {
        Self {
            nodes: given.nodes,
            degree: given.degree,
            size_bytes: given.size_bytes,
            mbit_per_s: given.mbit_per_s,
            one_way_ms: given.one_way_ms,
            generation_ms: given.generation_ms,
            verification_ms: given.verification_ms,
        }
    }
}
