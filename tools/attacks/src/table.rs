//! Report printed by the campaign of attacks.

use std::collections::BTreeSet;

use comfy_table::Table;
use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use serde::Serialize;

use super::attacks::{Attack, Price};
use super::matrix::{Cell, DOWN_S, Way};
use super::test_network::Measured;
use super::users::AskedService;
use super::{Counted, Usage};

/// Maximum 95th percentile of the latencies in a good row, milliseconds.
const P95_MAX_MS: f64 = 250.0;
/// Maximum 95th percentile of a service's times in a good row, milliseconds.
const SERVED_P95_MAX_MS: f64 = 500.0;
/// Maximum resident memory of the victim in a good row, MiB.
const MEMORY_MAX_MIB: f64 = 128.0;

/// Results of honest requests to one service.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceFigures {
    /// Numbers of requests and answers.
    #[serde(flatten)]
    pub asked: AskedService,
    /// Median time until the answer, milliseconds.
    pub p50_ms: Option<f64>,
    /// 95th percentile of these times, milliseconds.
    pub p95_ms: Option<f64>,
}

impl ServiceFigures {
    fn is_good(&self) -> bool {
        self.asked.answered == self.asked.asked
            && self.p95_ms.is_some_and(|p95_ms| p95_ms < SERVED_P95_MAX_MS)
    }
}

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Number of honest messages times receivers.
    pub sent: usize,
    /// Number of these that arrived.
    pub delivered: usize,
    /// Median of the latencies, milliseconds.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the latencies, milliseconds.
    pub p95_ms: Option<f64>,
    /// Number of newcomers that the victim accepted.
    pub newcomers_in: u32,
    /// Number of newcomers that tried to connect.
    pub newcomers_tried: u32,
    /// Honest requests to the victim's services, if they were measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceFigures>,
    /// Things that the attack should leave unaffected, if it concerns any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
    /// Resource usage of the victim's process.
    #[serde(flatten)]
    pub usage: Usage,
    /// Lowest score that an honest node has of another.
    pub lowest_score: Option<f64>,
}

impl From<&Measured> for Figures {
    fn from(measured: &Measured) -> Self {
        let arrived = &measured.arrived;
        Self {
            sent: arrived.sent,
            delivered: arrived.delivered,
            p50_ms: arrived.percentile_ms(50),
            p95_ms: arrived.percentile_ms(95),
            newcomers_in: measured.newcomers_in,
            newcomers_tried: measured.newcomers_tried,
            services: measured.services.iter().map(service).collect(),
            counted: measured.counted.clone(),
            usage: measured.usage,
            lowest_score: measured.lowest_score,
        }
    }
}

impl Figures {
    /// Whether the run is good: all messages arrived, the 95th percentile and memory are within bounds, all
    /// newcomers were accepted, all requests to services were answered, all counted things are unaffected, and no
    /// honest node has a negative score.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.delivered == self.sent
            && self.p95_ms.is_some_and(|p95_ms| p95_ms < P95_MAX_MS)
            && self.newcomers_in == self.newcomers_tried
            && self.services.iter().all(ServiceFigures::is_good)
            && self.counted.iter().all(Counted::is_good)
            && self.usage.memory_mib < MEMORY_MAX_MIB
            && self.lowest_score.is_none_or(|score| score >= 0.0)
    }

    fn cells(&self) -> [String; 8] {
        let ms = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
        [
            format!("{} of {}", self.delivered, self.sent),
            ms(self.p50_ms),
            ms(self.p95_ms),
            format!("{} of {}", self.newcomers_in, self.newcomers_tried),
            format!("{:.0} %", self.usage.cpu_percent),
            format!("{:.0}", self.usage.memory_mib),
            self.usage.handles.to_string(),
            self.lowest_score
                .map_or("-".to_owned(), |score| format!("{score:.0}")),
        ]
    }
}

/// Results of one attack, next to those of the same network without it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the attack.
    pub attack: &'static str,
    /// Description of the attack.
    pub about: &'static str,
    /// Number of addresses that the attack needs; 1 also stands for none.
    pub addresses: u32,
    /// Results without the attack.
    pub without: Figures,
    /// Results with the attack.
    pub with: Figures,
}

impl Row {
    /// Creates a row from its two runs.
    #[must_use]
    pub fn new(attack: &Attack, without: &Measured, with: &Measured) -> Self {
        Self {
            attack: attack.name,
            about: attack.about,
            addresses: match attack.price {
                Price::Nothing => 1,
                Price::Addresses(count) => count,
            },
            without: without.into(),
            with: with.into(),
        }
    }
}

/// Report of all attacks and of the restart matrix.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Rows of the attacks.
    pub rows: Vec<Row>,
    /// Cells of the restart matrix.
    pub matrix: Vec<Cell>,
}

impl Report {
    /// Whether every row with an attack and every cell is good.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.with.is_good()) && self.matrix.iter().all(Cell::is_good)
    }

    /// Returns the report as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers, texts and fixed keys only")
    }

    /// Returns the report as tables, for a terminal or in Markdown.
    #[must_use]
    pub fn text(&self, is_markdown: bool) -> String {
        let preset = if is_markdown {
            ASCII_MARKDOWN
        } else {
            UTF8_FULL_CONDENSED
        };
        let mut parts = Vec::new();
        if !self.rows.is_empty() {
            parts.push(self.attacks(preset).to_string());
        }
        if self.rows.iter().any(|row| !row.with.services.is_empty()) {
            parts.push(self.services(preset).to_string());
        }
        if self.rows.iter().any(|row| !row.with.counted.is_empty()) {
            parts.push(self.counted(preset).to_string());
        }
        if !self.matrix.is_empty() {
            parts.push(self.restarts(preset).to_string());
        }
        parts.join("\n\n")
    }

    fn attacks(&self, preset: &str) -> Table {
        let mut table = Table::new();
        table.load_preset(preset).set_header([
            "attack",
            "run",
            "delivered",
            "p50 ms",
            "p95 ms",
            "newcomers in",
            "CPU",
            "memory MiB",
            "handles",
            "lowest score",
            "price",
            "good",
        ]);
        for row in &self.rows {
            let price = match row.addresses {
                1 => "none".to_owned(),
                count => format!("{count} addresses"),
            };
            let good = |figures: &Figures| if figures.is_good() { "yes" } else { "NO" };
            for (name, run, figures, price) in [
                (row.attack, "without", &row.without, String::new()),
                ("", "with", &row.with, price),
            ] {
                let mut cells = vec![name.to_owned(), run.to_owned()];
                cells.extend(figures.cells());
                cells.extend([price, good(figures).to_owned()]);
                table.add_row(cells);
            }
        }
        table
    }

    /// Returns the table of how long honest users of the services waited, with and without each attack.
    fn services(&self, preset: &str) -> Table {
        let served = self.rows.iter().filter(|row| !row.with.services.is_empty());
        let mut table = Table::new();
        let mut header = vec!["attack".to_owned(), "run".to_owned()];
        let first = self.rows.iter().flat_map(|row| &row.without.services);
        let names: BTreeSet<_> = first.map(|one| one.asked.service).collect();
        header.extend(names.iter().map(|name| format!("{name}, ms")));
        table.load_preset(preset).set_header(header);
        for row in served {
            for (name, run, figures) in [
                (row.attack, "without", &row.without),
                ("", "with", &row.with),
            ] {
                let mut cells = vec![name.to_owned(), run.to_owned()];
                for name in &names {
                    let mut all = figures.services.iter();
                    let found = all.find(|one| one.asked.service == *name);
                    cells.push(found.map_or("-".to_owned(), waited));
                }
                table.add_row(cells);
            }
        }
        table
    }

    /// Returns the table of the things that attacks should leave unaffected.
    fn counted(&self, preset: &str) -> Table {
        let mut table = Table::new();
        table.load_preset(preset);
        table.set_header(["attack", "run", "what", "as it should be"]);
        for row in &self.rows {
            let without = row.without.counted.iter().map(|one| ("without", one));
            let with = row.with.counted.iter().map(|one| ("with", one));
            for (run, one) in without.chain(with) {
                let good = format!("{} of {}", one.good, one.of);
                table.add_row([row.attack, run, one.what, &good]);
            }
        }
        table
    }

    fn restarts(&self, preset: &str) -> Table {
        let mut table = Table::new();
        let mut header = vec!["messages flow both ways after".to_owned()];
        header.extend(DOWN_S.map(|down_s| format!("{down_s} s down")));
        table.load_preset(preset).set_header(header);
        for way in Way::ALL {
            let mut cells = vec![way.name().to_owned()];
            for down_s in DOWN_S {
                let mut all = self.matrix.iter();
                let found = all.find(|cell| cell.way == way && cell.down_s == down_s);
                cells.push(found.map_or("-".to_owned(), shown));
            }
            table.add_row(cells);
        }
        table
    }
}

fn service(asked: &AskedService) -> ServiceFigures {
    ServiceFigures {
        asked: asked.clone(),
        p50_ms: asked.percentile_ms(50),
        p95_ms: asked.percentile_ms(95),
    }
}

/// Returns median and 95th percentile of the times, and the number of unanswered requests, if any.
fn waited(one: &ServiceFigures) -> String {
    let ms = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
    let times = format!("{}, {}", ms(one.p50_ms), ms(one.p95_ms));
    match one.asked.asked - one.asked.answered {
        0 => times,
        lost => format!("{times}; {lost} of {} WITHOUT ANSWER", one.asked.asked),
    }
}

fn shown(cell: &Cell) -> String {
    let after = match cell.flows_after_s {
        Some(after_s) => format!("{after_s:.1} s"),
        None => match &cell.last_troubled {
            Some(last) => format!("never: {last}"),
            None => "never".to_owned(),
        },
    };
    match cell.lowest_score.filter(|score| *score < 0.0) {
        Some(score) => format!("{after}, score {score:.0}"),
        None if cell.is_good() => after,
        None => format!("{after} (NO)"),
    }
}
