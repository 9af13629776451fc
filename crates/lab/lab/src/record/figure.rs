//! One figure: published, ours, ratio, tolerance, verdict.

use serde::{Deserialize, Serialize};

use crate::report::median;

/// Criterion for a figure to count as reproduced. It is set in the code of
/// the experiment, before running.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Our figure is within this share of the published value.
    Within(f64),
    /// Our figure is at least this.
    AtLeast(f64),
    /// Our figure is at most this.
    AtMost(f64),
    /// Our figure lies between these two values.
    Between(f64, f64),
    /// The published value, measured on one network, lies in this range, which holds 95 % of ours over many
    /// seeds.
    Band(f64, f64),
    /// No reference exists; the figure is only shown.
    Shown,
}

/// Whether a figure is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The criterion for the figure holds.
    Agrees,
    /// The criterion does not hold, or the figure is missing.
    Differs,
    /// The figure has no criterion.
    Shown,
}

/// One figure of ours beside the published one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name of the figure.
    pub name: String,
    /// Unit of the figure; empty for ratios and counts.
    pub unit: String,
    /// Published value; `None` where the publication gives a statement or nothing.
    pub published: Option<f64>,
    /// Statement of the publication, where it gives words instead of a number.
    pub statement: Option<String>,
    /// Our figure: the median over seeds or runs; `None` if there is none.
    pub ours: Option<f64>,
    /// Smallest and largest of our values over seeds or runs; `None` for a single one.
    pub spread: Option<(f64, f64)>,
    /// Our figure divided by the published value.
    pub ratio: Option<f64>,
    /// Criterion for the figure to count as reproduced.
    pub criterion: Criterion,
    /// Verdict, computed from the fields above.
    pub verdict: Verdict,
    /// Reason why the figure is outside its criterion, where it is known.
    pub why: Option<String>,
}

impl Figure {
    /// A figure of ours over seeds or runs, beside a published number.
    pub fn published(
        name: impl Into<String>,
        unit: &str,
        published: f64,
        ours: &[f64],
        criterion: Criterion,
    ) -> Self {
        Self::new(name.into(), unit, Some(published), None, ours, criterion)
    }

    /// A figure of ours beside a published statement.
    pub fn stated(
        name: impl Into<String>,
        unit: &str,
        statement: &str,
        ours: &[f64],
        criterion: Criterion,
    ) -> Self {
        let statement = Some(statement.to_owned());
        Self::new(name.into(), unit, None, statement, ours, criterion)
    }

    /// A figure of ours for which nothing is published.
    pub fn ours(name: impl Into<String>, unit: &str, ours: &[f64]) -> Self {
        Self::new(name.into(), unit, None, None, ours, Criterion::Shown)
    }

    /// Adds the reason why the figure is outside its tolerance; ignored if the figure is not outside.
    #[must_use]
    pub fn because(mut self, why: &str) -> Self {
        if self.verdict == Verdict::Differs {
            self.why = Some(why.to_owned());
        }
        self
    }

    fn new(
        name: String,
        unit: &str,
        published: Option<f64>,
        statement: Option<String>,
        all: &[f64],
        criterion: Criterion,
    ) -> Self {
        let ours = median(all.iter().copied()).filter(|value| value.is_finite());
        let spread = match all {
            [] | [_] => None,
            _ => Some((
                all.iter().copied().fold(f64::INFINITY, f64::min),
                all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )),
        };
        let ratio = published
            .filter(|published| *published != 0.0)
            .and_then(|published| Some(ours? / published));
        Self {
            name,
            unit: unit.to_owned(),
            published,
            statement,
            ours,
            spread: spread.filter(|(low, high)| low.is_finite() && high.is_finite()),
            ratio,
            criterion,
            verdict: criterion.judge(published, ours),
            why: None,
        }
    }
}

impl Criterion {
    fn judge(self, published: Option<f64>, ours: Option<f64>) -> Verdict {
        let holds = match (self, ours) {
            (Self::Shown, _) => return Verdict::Shown,
            (_, None) => false,
            (Self::Within(share), Some(ours)) => published
                // A rounding error must not decide the verdict.
                .is_some_and(|published| {
                    (ours - published).abs() <= share * published.abs() + 1e-9
                }),
            (Self::AtLeast(least), Some(ours)) => ours >= least,
            (Self::AtMost(most), Some(ours)) => ours <= most,
            (Self::Between(least, most), Some(ours)) => (least..=most).contains(&ours),
            (Self::Band(low, high), Some(_)) => {
                published.is_some_and(|published| (low..=high).contains(&published))
            }
        };
        if holds {
            Verdict::Agrees
        } else {
            Verdict::Differs
        }
    }
}

impl std::fmt::Display for Criterion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Within(share) => write!(f, "± {} %", short(share * 100.0)),
            Self::AtLeast(least) => write!(f, "≥ {}", short(*least)),
            Self::AtMost(most) => write!(f, "≤ {}", short(*most)),
            Self::Between(least, most) => write!(f, "{} to {}", short(*least), short(*most)),
            Self::Band(low, high) => write!(
                f,
                "published in {} to {}, 95 % of seeds",
                short(*low),
                short(*high)
            ),
            Self::Shown => Ok(()),
        }
    }
}

/// Formats a number with as many decimals as its size requires.
pub fn short(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size == 0.0 || size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ if size >= 0.1 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
