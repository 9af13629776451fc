//! Writes a found attack as a scenario file.

use std::fmt::Write as _;

use undertone_sim::scenario::Targets;

use crate::attack::Attack;
use crate::judge::Figures;

const S: f64 = 1e9;
const MS: f64 = 1e6;

/// Text of a scenario file with the attack, based on the scenario that was attacked.
pub fn scenario_file(base: &str, attack: &Attack, figures: &Figures, command: &str) -> String {
    let Attack { policy, identities } = attack;
    let mut text = format!(
        "# Found by `{command}`: {:.2} % delivered within 6 s, p99 {:.0} ms, lowest score {:.1}.\n\
         base = {base:?}\n\n[[groups]]\nname = \"found\"\nnodes = {identities}\n[groups.policy]\n",
        figures.on_time_ratio * 100.0,
        figures.p99_ms,
        figures.lowest_score,
    );
    let mut key = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {value}");
    };
    key("addresses", policy.addresses.to_string());
    key("arrives_s", seconds(policy.arrives_ns));
    key("arrives_over_s", seconds(policy.arrives_over_ns));
    match &policy.targets {
        Targets::All => key("targets", "\"all\"".to_owned()),
        Targets::Publishers => key("targets", "\"publishers\"".to_owned()),
        Targets::Nodes(nodes) => key("targets", format!("{nodes:?}")),
    }
    key("dials", policy.dials.to_string());
    key("dialled", policy.dialled.to_string());
    key("graft", policy.graft.to_string());
    key("accepts_graft", policy.accepts_graft.to_string());
    if let Some(after_ns) = policy.regraft_after_ns {
        key("regraft_after_s", seconds(after_ns));
    }
    key("misbehaves_from_s", seconds(policy.misbehaves_from_ns));
    if let Some((bad_ns, good_ns)) = policy.turns_ns {
        key("misbehaves_for_s", seconds(bad_ns));
        key("behaves_for_s", seconds(good_ns));
    }
    key("forward", policy.forward.to_string());
    if !policy.censored.is_empty() {
        key("censored", format!("{:?}", policy.censored));
    }
    key(
        "forward_delay_ms",
        (policy.forward_delay_ns as f64 / MS).to_string(),
    );
    key("announce", policy.announce.to_string());
    key("announce_false", policy.announce_false.to_string());
    key("answer", policy.answer.to_string());
    key("request", policy.request.to_string());
    text
}

fn seconds(ns: u64) -> String {
    (ns as f64 / S).to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use undertone_lab::scenario::load;
    use undertone_sim::Plan;

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
        };
        let base = load("attack-none", &[]).unwrap().scenario;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("found.toml");
        for value in [0.0, 0.3, 0.55, 0.7, 1.0] {
            let mut attack = genes::attack(&base, budget, &vec![value; genes::count()]);
            // As shrinking leaves it.
            attack.identities = attack.identities.div_ceil(2);
            attack.fit();
            fs::write(
                &path,
                scenario_file("attack-none", &attack, &figures, "test"),
            )
            .unwrap();
            let found = load(path.to_str().unwrap(), &[]).unwrap().scenario;
            Plan::new(&found, 1).unwrap();
            assert_eq!(found.adversaries(), attack.identities);
            let read = found.groups[0].policy.as_deref().unwrap();
            assert_eq!(read.dialled, attack.policy.dialled);
            assert_eq!(read.announce, attack.policy.announce);
            assert_eq!(read.targets, attack.policy.targets);
            assert_eq!(read.censored, attack.policy.censored);
        }
    }
}
