//! A search for rules under which known attacks do the least harm.

use std::path::Path;

use serde::{Deserialize, Serialize};
use undertone_lab::report::{RunCosts, Summary};
use undertone_lab::scenario::load;
use undertone_sim::scenario::{Group, Members};
use undertone_sim::{RunOptions, Scenario, run};

use crate::evolution::{Candidate, Evolution, Judged};
use crate::genes::ratio;
use crate::state::{self, SearchError};

/// What a search for rules is asked for. A file of another search is not continued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefenceSettings {
    /// Names of scenarios with adversaries, each with the hash over its parameters.
    pub attacks: Vec<(String, String)>,
    /// Keys of these scenarios that are set before the rules.
    pub set: Vec<String>,
    /// Seed of the search and of its runs.
    pub seed: u64,
    /// Number of candidates of a generation.
    pub generation: usize,
}

/// Figures of one set of rules, over all attacks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DefenceFigures {
    /// Smallest share of deliveries that were made within 6 s.
    pub on_time_ratio: f64,
    /// Largest 99th percentile of latency, milliseconds.
    pub p99_ms: f64,
    /// Largest number of honest peers that had a score below 0 in some second. Such a peer is pruned from meshes.
    pub honest_below_zero: u64,
    /// Bytes that an honest node sends for each message, thousands; the mean over all attacks.
    pub kb_per_message: f64,
}

/// State of a search for rules, as in its file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Defence {
    settings: DefenceSettings,
    /// Number of sets of rules tried.
    pub tried: usize,
    /// Number of those under which some honest peer had a score below 0.
    pub blamed_honest: usize,
    evolution: Evolution<DefenceFigures>,
    frontier: Vec<Judged<DefenceFigures>>,
}

/// Values that a rule may have.
#[derive(Clone, Copy)]
enum Range {
    /// Whole numbers.
    Whole(f64, f64),
    /// Numbers, with equal room for equal ratios.
    Ratio(f64, f64),
    /// Off, or a negative number; equal room for equal ratios.
    Weight(f64, f64),
    /// Words.
    Words(&'static [&'static str]),
}

/// Keys that are searched. Degrees are not among them: they are what the network pays for, with or without an attack.
const RULES: &[(&str, Range)] = &[
    (
        "relay.opportunistic_graft_heartbeats",
        Range::Whole(1.0, 120.0),
    ),
    ("relay.opportunistic_graft_peers", Range::Whole(1.0, 8.0)),
    (
        "relay.thresholds.opportunistic_graft",
        Range::Ratio(0.05, 50.0),
    ),
    ("relay.d_score", Range::Whole(0.0, 6.0)),
    ("relay.d_lazy", Range::Whole(2.0, 20.0)),
    (
        "relay.flood_publish",
        Range::Words(&["off", "bounded-by-rate", "on"]),
    ),
    ("relay.iwant_in_flight_max", Range::Whole(1.0, 4.0)),
    ("relay.iwant_give_up_s", Range::Ratio(0.2, 2.0)),
    ("relay.broken_promises_habit", Range::Whole(1.0, 16.0)),
    ("relay.score.behaviour_weight", Range::Weight(0.1, 100.0)),
    (
        "relay.score.topic.time_in_mesh_weight",
        Range::Ratio(1e-3, 1.0),
    ),
    (
        "relay.score.topic.first_deliveries_weight",
        Range::Ratio(0.01, 10.0),
    ),
    (
        "relay.score.topic.first_deliveries_decay",
        Range::Ratio(0.3, 0.999),
    ),
    (
        "relay.score.topic.first_deliveries_cap",
        Range::Ratio(1.0, 1_000.0),
    ),
    (
        "relay.score.topic.mesh_deliveries_weight",
        Range::Weight(1e-3, 10.0),
    ),
    (
        "relay.score.topic.mesh_deliveries_threshold",
        Range::Ratio(0.1, 20.0),
    ),
    (
        "relay.score.topic.mesh_deliveries_decay",
        Range::Ratio(0.3, 0.999),
    ),
    (
        "relay.score.topic.mesh_deliveries_activation_s",
        Range::Ratio(1.0, 120.0),
    ),
    (
        "relay.score.topic.mesh_deliveries_window_ms",
        Range::Ratio(1.0, 2_000.0),
    ),
];

/// Cost, relative to that of the best rules, up to which a rule is left out.
const MATTERS: f64 = 1.02;

/// Cap of P3, which must not be below its threshold.
const CAP_OF_P3: &str = "relay.score.topic.mesh_deliveries_cap=100";

/// The value of a gene as a value of its rule.
fn value(range: Range, gene: f64) -> String {
    // Three digits are enough to say what a rule is.
    let rounded = |number: f64| {
        let digits = 10f64.powf(2.0 - number.abs().log10().floor());
        ((number * digits).round() / digits).to_string()
    };
    match range {
        Range::Whole(least, most) => format!("{:.0}", least + gene * (most - least)),
        Range::Ratio(least, most) => rounded(ratio(gene, least, most)),
        Range::Weight(..) if gene <= 0.5 => "0".to_owned(),
        Range::Weight(least, most) => rounded(-ratio((gene - 0.5) * 2.0, least, most)),
        Range::Words(words) => {
            words[((gene * words.len() as f64) as usize).min(words.len() - 1)].to_owned()
        }
    }
}

/// The rules of some genes, each as a key with its value.
fn rules(genes: &[f64]) -> Vec<String> {
    let searched = RULES.iter().zip(genes);
    let rule =
        |((key, range), gene): (&(&str, Range), &f64)| format!("{key}={}", value(*range, *gene));
    searched.map(rule).chain([CAP_OF_P3.to_owned()]).collect()
}

/// Slow honest nodes, a tenth of the network: 2 Mbit/s, 300 ms and 2 % loss.
fn slow(scenario: &Scenario) -> Group {
    let mut slow = Group::new("slow", Members::Count((scenario.nodes / 10).max(1)));
    slow.uplink_bytes_per_s = Some(250_000);
    slow.downlink_bytes_per_s = Some(250_000);
    slow.added_delay_ns = 300_000_000;
    slow.added_loss = 0.02;
    slow
}

impl DefenceFigures {
    /// Runs all attacks under the rules that `set` has, with slow nodes among the honest.
    ///
    /// # Errors
    /// Returns an error when a scenario cannot be read or run, has no adversaries, or no message while they act.
    pub fn of(settings: &DefenceSettings, set: &[String]) -> Result<Self, SearchError> {
        let mut worst = Self {
            on_time_ratio: 1.0,
            p99_ms: 0.0,
            honest_below_zero: 0,
            kb_per_message: 0.0,
        };
        let set = [&settings.set, set].concat();
        for (name, _) in &settings.attacks {
            let mut scenario = load(name, &set)?.scenario;
            scenario.groups.push(slow(&scenario));
            let outcome = run(&scenario, RunOptions::new(settings.seed), &mut |_| {})?;
            let summary = Summary::new(&scenario, &outcome, RunCosts::default(), "");
            let Some(attack) = &summary.attack else {
                return Err(SearchError::NoAdversaries {
                    scenario: name.clone(),
                });
            };
            worst.on_time_ratio = worst.on_time_ratio.min(attack.on_time_ratio);
            let Some(latency) = &attack.latency_ms else {
                return Err(SearchError::NothingDelivered {
                    scenario: name.clone(),
                });
            };
            worst.p99_ms = worst.p99_ms.max(latency.p99);
            worst.honest_below_zero = worst.honest_below_zero.max(attack.honest_below_zero_max);
            let copies = f64::from(scenario.nodes) * outcome.messages.len().max(1) as f64;
            let kb = summary.bytes.wire as f64 / copies / 1e3;
            worst.kb_per_message += kb / settings.attacks.len() as f64;
        }
        Ok(worst)
    }

    /// Cost for a search. Blame of honest peers is worse than anything else, then a late message. A second of latency
    /// counts as much as 100 KB.
    fn cost(&self) -> f64 {
        let blame = self.honest_below_zero as f64;
        blame * 1e3
            + (1.0 - self.on_time_ratio) * 1e3
            + self.p99_ms / 1e3
            + self.kb_per_message / 100.0
    }

    /// Whether rules are at least as good in all figures, and better in one.
    fn beats(&self, other: &Self) -> bool {
        self != other
            && self.on_time_ratio >= other.on_time_ratio
            && self.p99_ms <= other.p99_ms
            && self.kb_per_message <= other.kb_per_message
    }
}

impl Defence {
    /// Begins a search for rules, or goes on with the one in a file.
    ///
    /// # Errors
    /// Returns an error when the file cannot be read, or belongs to another search.
    pub fn new(settings: DefenceSettings, file: &Path) -> Result<Self, SearchError> {
        let is_same = |known: &Self| known.settings == settings;
        Ok(state::read(file, is_same)?.unwrap_or_else(|| Self {
            evolution: Evolution::new(settings.seed, RULES.len(), settings.generation),
            settings,
            tried: 0,
            blamed_honest: 0,
            frontier: Vec::new(),
        }))
    }

    /// Runs one generation, and writes the state to the file.
    ///
    /// # Errors
    /// Returns an error when a scenario cannot be run, or the file cannot be written.
    pub fn step(&mut self, threads: usize, file: &Path) -> Result<(), SearchError> {
        let candidates = self.evolution.candidates();
        let settings = &self.settings;
        let figures = state::on_threads(&candidates, threads, |candidate: &Candidate| {
            DefenceFigures::of(settings, &rules(&candidate.genes))
        });
        let mut judged = Vec::new();
        for (candidate, figures) in candidates.into_iter().zip(figures) {
            let figures = figures?;
            self.tried += 1;
            self.blamed_honest += usize::from(figures.honest_below_zero > 0);
            judged.push(Judged {
                cost: figures.cost(),
                candidate,
                figures,
            });
        }
        for one in judged
            .iter()
            .filter(|one| one.figures.honest_below_zero == 0)
        {
            let is_beaten = |by: &Judged<DefenceFigures>| by.figures.beats(&one.figures);
            if !self.frontier.iter().any(is_beaten) {
                self.frontier.retain(|old| !one.figures.beats(&old.figures));
                self.frontier.push(one.clone());
            }
        }
        self.frontier
            .sort_by(|a, b| a.figures.p99_ms.total_cmp(&b.figures.p99_ms));
        self.evolution.select(judged);
        state::write(file, self)
    }

    /// The best rules so far, with their figures.
    pub fn best(&self) -> Option<(Vec<String>, DefenceFigures)> {
        let best = self.evolution.best()?;
        Some((rules(&best.candidate.genes), best.figures))
    }

    /// The best rules without those that hardly matter: the scenarios keep their own, as long as the cost stays within
    /// two hundredths. `tell` is called with the number of rules left.
    pub fn simplest(&self, tell: &mut dyn FnMut(usize)) -> Option<(Vec<String>, DefenceFigures)> {
        let (mut rules, mut figures) = self.best()?;
        let most = figures.cost() * MATTERS;
        let mut at = 0;
        while at < rules.len() {
            tell(rules.len());
            let mut fewer = rules.clone();
            fewer.remove(at);
            // Some rules cannot be without others.
            match DefenceFigures::of(&self.settings, &fewer) {
                Ok(now) if now.cost() <= most => (rules, figures) = (fewer, now),
                _ => at += 1,
            }
        }
        Some((rules, figures))
    }

    /// Figures of the rules that no others beat, the quickest first.
    pub fn frontier(&self) -> Vec<DefenceFigures> {
        self.frontier.iter().map(|one| one.figures).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> DefenceSettings {
        DefenceSettings {
            attacks: vec![("attack-found-1".to_owned(), String::new())],
            set: vec![
                "scenario.nodes=20".to_owned(),
                "traffic.messages=4".to_owned(),
            ],
            seed: 1,
            generation: 4,
        }
    }

    #[test]
    fn all_rules_can_be_set() {
        for gene in [0.0, 0.3, 0.6, 1.0] {
            DefenceFigures::of(&settings(), &rules(&vec![gene; RULES.len()])).unwrap();
        }
    }

    #[test]
    fn it_goes_on_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("defence.json");
        let mut whole = Defence::new(settings(), &file).unwrap();
        whole.step(1, &file).unwrap();
        let mut again = Defence::new(settings(), &file).unwrap();
        whole.step(2, &file).unwrap();
        again.step(1, &file).unwrap();
        assert_eq!(whole.best(), again.best());
        assert_eq!((again.tried, again.frontier()), (8, whole.frontier()));
        let (rules, figures) = again.simplest(&mut |_| {}).unwrap();
        let (all, best) = again.best().unwrap();
        assert!(rules.len() < all.len() && rules.iter().all(|rule| all.contains(rule)));
        assert!(figures.cost() <= best.cost() * MATTERS);
        // A scenario that was changed is another one.
        let mut changed = settings();
        changed.attacks[0].1 = "another".to_owned();
        let refused = Defence::new(changed, &file);
        assert!(matches!(refused, Err(SearchError::Other { .. })));
    }

    #[test]
    fn scenarios_without_adversaries_are_refused() {
        let mut settings = settings();
        settings.attacks[0].0 = "attack-none".to_owned();
        let error = DefenceFigures::of(&settings, &[]).unwrap_err();
        assert!(error.to_string().contains("has no adversaries"), "{error}");
    }

    #[test]
    fn an_attack_that_begins_after_the_last_message_is_refused() {
        let mut settings = settings();
        settings.attacks[0].0 = "attack-covert-flash".to_owned();
        let error = DefenceFigures::of(&settings, &[]).unwrap_err();
        assert!(error.to_string().contains("traffic.messages"), "{error}");
    }

    #[test]
    fn the_frontier_has_no_rules_that_others_beat() {
        let of = |p99_ms, kb_per_message| DefenceFigures {
            on_time_ratio: 1.0,
            p99_ms,
            honest_below_zero: 0,
            kb_per_message,
        };
        assert!(of(1.0, 1.0).beats(&of(1.0, 2.0)));
        assert!(!of(1.0, 2.0).beats(&of(2.0, 1.0)));
        assert!(!of(1.0, 1.0).beats(&of(1.0, 1.0)));
    }
}
