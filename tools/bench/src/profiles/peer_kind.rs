use std::fmt;

use undertone_conformance::PeerCommand;
use undertone_conformance::npm::NpmError;
use undertone_conformance::programs;

/// Implementation of GossipSub whose nodes can be run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PeerKind {
    /// `libp2p-gossipsub`, of Rust.
    Rust,
    /// `@libp2p/gossipsub`, of JavaScript.
    Js,
    /// This project's own.
    Undertone,
}

impl PeerKind {
    /// All implementations, in the order in which they run.
    pub(crate) const ALL: [Self; 3] = [Self::Rust, Self::Js, Self::Undertone];

    const fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Js => "js",
            Self::Undertone => "undertone",
        }
    }

    /// Returns the profiles to simulate: the implementation's own, and this project's for comparison.
    pub(crate) fn profiles(self) -> Vec<&'static str> {
        match self {
            Self::Undertone => vec![self.name()],
            other => vec![other.name(), Self::Undertone.name()],
        }
    }

    /// Returns the overrides of the scenario for this implementation: those that it needs, and those that make
    /// simulated nodes resemble its nodes, apart from the router's profile.
    pub(crate) fn overrides(self) -> Vec<String> {
        let name = self.name();
        let mut all = vec![
            format!("network.mux=yamux-{name}"),
            format!("network.handshake={name}"),
        ];
        let more: &[&str] = match self {
            Self::Rust => &[],
            // A hundred of its nodes on one machine cannot connect any faster.
            Self::Js => &["scenario.start_spread_s=180", "traffic.first_s=220"],
            // Its peer program uses the parameters and scores of a Waku network.
            Self::Undertone => &["relay.base=waku"],
        };
        all.extend(more.iter().map(ToString::to_string));
        all
    }

    /// Returns the command that starts a node.
    pub(crate) fn command(self) -> Result<PeerCommand, NpmError> {
        match self {
            Self::Rust => Ok(programs::rust_gossipsub()),
            Self::Js => programs::js_gossipsub(),
            Self::Undertone => Ok(programs::undertone()),
        }
    }
}

impl fmt::Display for PeerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
