//! A program outside the workspace: a scenario with a strategy defined by this program, next to the built-in
//! one.

use std::error::Error;
use std::ops::ControlFlow;

use undertone_gossip::{PeerIx, Strategy, StrategyFactory, View};
use undertone_lab::report::DatasetChoice;
use undertone_lab::run::{RunRequest, threads};
use undertone_lab::scenario::{self, register_strategy};

/// Forwards each message to every subscriber, not only to the mesh.
#[derive(Clone, Copy, Debug)]
struct Everybody;

impl StrategyFactory for Everybody {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }
}

impl Strategy for Everybody {
    fn forward(&mut self, view: &View<'_>) -> Vec<PeerIx> {
        view.subscribers().to_vec()
    }
}

/// Returns the number of copies per delivery, and the name of the strategy in the results.
fn copies(strategy: &str) -> Result<(f64, String), Box<dyn Error>> {
    let loaded = scenario::load("small", &[format!("relay.strategy={strategy}")])?;
    let request = RunRequest {
        loaded: &loaded,
        seed: 1,
        threads: threads(None),
        commit: "outside",
        datasets: DatasetChoice::default(),
    };
    let summary = request.run(&mut |_| ControlFlow::Continue(()))?.summary;
    if summary.delivered < summary.expected || !summary.violations.is_empty() {
        return Err(format!("{strategy}: {:?}", summary.violations).into());
    }
    let resolved = summary.resolved.ok_or("results state what was run")?;
    let named = resolved.parameters["relay"]["strategy"].to_string();
    let copies = summary.bytes.copies_per_delivery;
    Ok((copies.ok_or("messages were delivered")?, named))
}

fn main() -> Result<(), Box<dyn Error>> {
    register_strategy("everybody", Everybody)?;
    let (built_in, _) = copies("eager-mesh")?;
    let (own, named) = copies("everybody")?;
    println!("copies for each delivery: {built_in:.2} with eager-mesh, {own:.2} with {named}");
    match own > built_in && named == "\"everybody\"" {
        true => Ok(()),
        false => Err("the scenario did not run with the strategy of this program".into()),
    }
}
