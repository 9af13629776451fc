//! Writes a found attack as a scenario file.

use undertone_lab::scenario::{ScenarioError, based_on};
use undertone_sim::Scenario;

use crate::judge::Figures;

/// Text of a scenario file with the attacked scenario, by what differs from the scenario `base`.
///
/// # Errors
/// Returns an error when the base cannot be read any more.
pub fn scenario_file(
    base: &str,
    attacked: &Scenario,
    figures: &Figures,
    command: &str,
) -> Result<String, ScenarioError> {
    let description = format!(
        "{} identities on {} addresses, found by a search for attacks",
        figures.identities, figures.addresses
    );
    Ok(format!(
        "# Found by `{command}`: {:.2} % delivered within 6 s, p99 {:.0} ms, lowest score {:.1}.\n{}",
        figures.on_time_ratio * 100.0,
        figures.p99_ms,
        figures.lowest_score,
        based_on(base, attacked, &description)?,
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use undertone_lab::scenario::load;

    use super::*;
    use crate::genes::{self, Budget};

    #[test]
    fn what_was_found_can_be_run() {
        let figures = Figures {
            on_time_ratio: 1.0,
            p99_ms: 1.0,
            lowest_score: 0.0,
            identities: 1,
            addresses: 1,
            violated: false,
        };
        let budget = Budget {
            identities: 40,
            addresses: 40,
            memberships: 20,
        };
        let set = [
            "traffic.messages=30",
            "relay.opportunistic_graft_heartbeats=0",
            "network.uplink_mbit_per_s=50",
        ];
        let base = load("attack-none", &set.map(str::to_owned)).unwrap();
        let base = base.scenario;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("found.toml");
        for value in [0.0, 0.3, 0.55, 0.7, 1.0] {
            let mut attack = genes::attack(&base, budget, &vec![value; genes::count(budget)]);
            // As shrinking leaves it.
            attack.identities = attack.identities.div_ceil(2);
            attack.fit();
            let mut attacked = attack.on(&base);
            attacked.traffic.messages = 7;
            let text = scenario_file("attack-none", &attacked, &figures, "test").unwrap();
            fs::write(&path, &text).unwrap();
            let found = load(path.to_str().unwrap(), &[]).unwrap().scenario;
            attacked.name.clone_from(&found.name);
            assert_eq!(format!("{found:#?}"), format!("{attacked:#?}"), "{text}");
        }
    }
}
