//! Campaigns of `cargo xtask campaign`: tests and measurements that take minutes or hours.

pub(crate) mod fuzz;
pub(crate) mod start;

use crate::needs::{self, Need};
use crate::run::{Place, quoted};

/// A campaign and its commands. Measurements build with the profile `dist`, that of the installed program; long
/// computations with `release`; work that mostly waits with `dev`.
#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// If any of these is missing, the campaign fails.
    pub(crate) needs: &'static [Need],
    /// Command lines as in steps; the last one gets the user's arguments.
    pub(crate) commands: &'static [&'static str],
}

/// Builds the program `undertone` for test programs of other packages.
const PROGRAM: &str = "cargo build --workspace --bin undertone --examples";
/// Builds it as for an installation.
const PROGRAM_DIST: &str = "cargo build --profile dist --package undertone";

const PYTHON_ENVIRONMENT: &str = "python3 -m venv --clear {target}/python/venv";

/// All campaigns in the order in which they run, the quickest first.
pub(crate) const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "tables",
        about: "the vendored tables derived again from the proving key, a minute",
        needs: &[],
        commands: &[
            "cargo test --release --package undertone-rln --lib -- --ignored the_vendored_file_can_be_derived",
        ],
    },
    Campaign {
        name: "start",
        about: "size of an operator's program and time from start to listening, a minute besides the build; \
                UNDERTONE_START_PROGRAM=PATH measures another one",
        needs: &[],
        commands: &[
            "test -n \"$UNDERTONE_START_PROGRAM\" || \
             cargo build --profile dist --package undertone --no-default-features",
            "cargo xtask start",
        ],
    },
    Campaign {
        name: "upgrade",
        about: "nodes of an earlier version in one network with the present one, a minute; needs \
                UNDERTONE_EARLIER=PATH of its program",
        needs: &[needs::EARLIER_VERSION],
        commands: &[
            PROGRAM,
            "cargo test --workspace --test upgrade -- --ignored --nocapture",
        ],
    },
    Campaign {
        name: "random-proofs",
        about: "proofs of random members against zerokit, minutes; UNDERTONE_PROOF_CASES=200 are made",
        needs: &[],
        commands: &[
            "cargo test --release --package undertone-rln --test it -- random_proofs:: --ignored --nocapture",
        ],
    },
    Campaign {
        name: "sync",
        about: "two stores of 100,000 messages that differ in 1,000 are made equal, a minute",
        needs: &[],
        commands: &[
            "cargo test --profile dist --package undertone-node --test sync_speed -- --ignored --nocapture",
        ],
    },
    Campaign {
        name: "ray",
        about: "a sweep on three worker processes of Ray, one of which is killed, minutes; needs Python and PyPI",
        needs: &[needs::PYTHON, needs::PYPI],
        commands: &[
            PYTHON_ENVIRONMENT,
            "cd crates/edge/python && MATURIN_PEP517_ARGS='--profile release' \
             {target}/python/venv/bin/pip install --quiet '.[test,ray]'",
            "cd crates/edge/python && {target}/python/venv/bin/python -m pytest campaigns/test_ray.py tests/test_examples.py",
        ],
    },
    Campaign {
        name: "notebooks",
        about: "the notebooks of the Python package draw the paper's figures, minutes; needs Python and PyPI",
        needs: &[needs::PYTHON, needs::PYPI],
        commands: &[
            PYTHON_ENVIRONMENT,
            "cd crates/edge/python && MATURIN_PEP517_ARGS='--profile release' \
             {target}/python/venv/bin/pip install --quiet '.[test,plots]'",
            "cd crates/edge/python && {target}/python/venv/bin/python notebooks/all.py {target}/python/figures",
        ],
    },
    Campaign {
        name: "mpi",
        about: "100,000 nodes on 1, 2 and 4 processes have one trace, minutes; needs Open MPI and libclang",
        needs: &[needs::MPI],
        commands: &[
            "cargo build --release --workspace --bin undertone --features undertone/mpi",
            "cargo xtask traces --large",
        ],
    },
    Campaign {
        name: "nat",
        about: "nodes behind routers that translate addresses reach each other, minutes; needs root, nftables \
                and miniupnpd",
        needs: &[needs::ROUTERS],
        commands: &["cargo test --workspace --test it -- nat:: --ignored --nocapture"],
    },
    Campaign {
        name: "nwaku",
        about: "the reference node in one network with ours, minutes; needs UNDERTONE_NWAKU=PATH of its program \
                wakunode2, and npm",
        needs: &[needs::REFERENCE_NODE, needs::NPM, needs::CONTRACT_PACKAGES],
        commands: &["cargo test --workspace --test it -- nwaku:: --ignored --nocapture"],
    },
    Campaign {
        name: "send-kill",
        about: "a node that sends killed 60 times at random moments, minutes; UNDERTONE_SEND_SEED replays them; \
                needs PostgreSQL",
        needs: &[needs::POSTGRESQL],
        commands: &["UNDERTONE_SEND_KILLS=60 cargo test --workspace --test it \
             -- sending_kill:: --include-ignored --nocapture --test-threads=1"],
    },
    Campaign {
        name: "light",
        about: "a light node among service peers that die, sleep and lie while packets are lost, 10 to 20 \
                minutes; UNDERTONE_LIGHT_SEED=1, UNDERTONE_LIGHT_S=600; needs nftables and network namespaces",
        needs: &[needs::NFTABLES, needs::LOSS],
        commands: &[
            PROGRAM,
            "cargo test --workspace --test light --no-run",
            "UNDERTONE_LIGHT_LOSS=10 {as_root}unshare --net sh -c 'ip link set lo mtu 1500 up && \
             nft --define loss=10 --file tools/attacks/tests/light/loss.nft && exec \"$0\" \"$@\"' \
             cargo test --offline --workspace --test light -- --ignored --nocapture",
        ],
    },
    Campaign {
        name: "discovery",
        about: "nodes find each other by discv5 while nodes die and addresses change, a quarter of an hour; \
                UNDERTONE_DISCOVERY_SEED=1, UNDERTONE_DISCOVERY_MINUTES=10; needs network namespaces",
        needs: &[needs::NAMESPACES],
        commands: &[
            "{as_root}cargo test --workspace --test it -- discovery:: --ignored --nocapture",
        ],
    },
    Campaign {
        name: "swarm",
        about: "random networks under random faults keep every rule, and heal, a quarter of an hour; \
                UNDERTONE_SWARM_SEEDS=0..800",
        needs: &[],
        commands: &["cargo test --workspace --test network -- swarm:: --ignored --nocapture"],
    },
    Campaign {
        name: "profiles",
        about: "a hundred nodes of other implementations beside simulated ones, a quarter of an hour; needs \
                network namespaces and npm; -- --help",
        needs: &[],
        commands: &[
            "cargo build --workspace --bin bench --bin gossipsub-peer --bin undertone-peer",
            "{target}/debug/bench profiles",
        ],
    },
    Campaign {
        name: "archive-kill",
        about: "writers of archives killed 50 times at random moments, minutes; needs PostgreSQL",
        needs: &[needs::POSTGRESQL],
        commands: &[
            "UNDERTONE_CRASH_ROUNDS=50 cargo test --release --package undertone-archive --test archive \
             -- crash --nocapture",
        ],
    },
    Campaign {
        name: "archive",
        about: "a million messages, pages, six months of retention, minutes; needs PostgreSQL; -- --help",
        needs: &[needs::POSTGRESQL],
        commands: &["cargo run --profile dist --package undertone-archive --example throughput --"],
    },
    Campaign {
        name: "hostile",
        about: "attacks on a real node and the restart matrix, half an hour; -- --list names the attacks",
        needs: &[],
        commands: &[
            PROGRAM_DIST,
            "cargo run --profile dist --package undertone-attacks --bin hostile --",
        ],
    },
    Campaign {
        name: "fuzz",
        about: "readers of strangers' bytes and users' files, and machines, fed by libFuzzer, an hour; \
                UNDERTONE_FUZZ_S=180 for each target; -- names some of them",
        needs: &[needs::CXX],
        commands: &["cargo xtask fuzz"],
    },
    Campaign {
        name: "security",
        about: "attacks on 200 simulated nodes under seven sets of rules, and observers of 50 networks of 1000 nodes, \
                four hours of processor time",
        needs: &[],
        commands: &["cargo run --release -- lab run attacks anonymity --full"],
    },
    Campaign {
        name: "soak",
        about: "what two stores, a publisher and a light node hold among strangers and registrations, two \
                hours; UNDERTONE_SOAK_S=7200",
        needs: &[],
        commands: &[
            PROGRAM_DIST,
            "cargo run --profile dist --package undertone-attacks --bin hostile -- --soak",
        ],
    },
];

/// Reason why a campaign failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CampaignError {
    #[error(transparent)]
    Missing(#[from] crate::run::Missing),
    #[error(transparent)]
    Command(#[from] crate::run::CommandError),
}

impl Campaign {
    /// Runs the campaign; its results go to standard output.
    pub(crate) fn run(&self, place: &Place, arguments: &[String]) -> Result<(), CampaignError> {
        if let Some(missing) = place.missing(self.needs, None) {
            return Err(missing.into());
        }
        for (index, line) in self.commands.iter().enumerate() {
            let mut line = place.filled(line);
            if index + 1 == self.commands.len() {
                for argument in arguments {
                    line += " ";
                    line += &quoted(argument);
                }
            }
            place.run(&line, None)?;
        }
        Ok(())
    }
}
