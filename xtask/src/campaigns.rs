//! Campaigns of `cargo xtask campaign`: tests and measurements that take minutes, too slow for
//! `cargo xtask test`.

mod fuzz;
mod profiles;
mod start;

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use crate::steps::{
    NPM, Outcome, archive, cargo, contracts, lossy, mpi, namespaces, python, walls,
};

/// Name of the test that derives the vendored tables.
const DERIVATION: &str = "the_vendored_file_can_be_derived";

/// Tests of random proofs.
const RANDOM_PROOFS: &str = "random_proofs::";

/// Integration test of archives, the tests in it that kill a writer, and the example that measures.
const ARCHIVE: &str = "archive";
const CRASH: &str = "crash";
const THROUGHPUT: &str = "throughput";

/// Test that measures store synchronisation.
const SYNC_SPEED: &str = "sync_speed";

/// Tests of assembled nodes, and that of them which kills a sender.
const ASSEMBLED: &str = "--test=it";
const SENDING_KILL: &str = "sending_kill::";

/// Variable with the path of the reference node.
const NWAKU: &str = "UNDERTONE_NWAKU";

/// Variable with the path of a program of an earlier version.
const EARLIER: &str = "UNDERTONE_EARLIER";

/// Percentage of packets that light nodes and their peers lose.
const LIGHT_LOSS: (&str, &str) = ("UNDERTONE_LIGHT_LOSS", "10");

/// Campaign by name. Measurements build with the profile `dist`, that of the installed program; tests with
/// `release`, because they are long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Campaign {
    Tables,
    RandomProofs,
    Light,
    SendKill,
    ArchiveKill,
    Archive,
    Sync,
    Hostile,
    Ray,
    Notebooks,
    Mpi,
    Nat,
    Discovery,
    Start,
    Nwaku,
    Upgrade,
    Profiles,
    Fuzz,
    Soak,
}

impl Campaign {
    /// All campaigns in the order in which they run: the quickest first.
    pub(crate) const ALL: [Self; 19] = [
        Self::Tables,
        Self::Start,
        Self::Upgrade,
        Self::RandomProofs,
        Self::Sync,
        Self::Ray,
        Self::Notebooks,
        Self::Mpi,
        Self::Nat,
        Self::Nwaku,
        Self::SendKill,
        Self::Light,
        Self::Discovery,
        Self::Profiles,
        Self::ArchiveKill,
        Self::Archive,
        Self::Hostile,
        Self::Fuzz,
        Self::Soak,
    ];

    /// Returns the campaign's name in `--only`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::RandomProofs => "random-proofs",
            Self::Light => "light",
            Self::SendKill => "send-kill",
            Self::ArchiveKill => "archive-kill",
            Self::Archive => "archive",
            Self::Sync => "sync",
            Self::Hostile => "hostile",
            Self::Ray => "ray",
            Self::Notebooks => "notebooks",
            Self::Mpi => "mpi",
            Self::Nat => "nat",
            Self::Discovery => "discovery",
            Self::Start => "start",
            Self::Nwaku => "nwaku",
            Self::Upgrade => "upgrade",
            Self::Profiles => "profiles",
            Self::Fuzz => "fuzz",
            Self::Soak => "soak",
        }
    }

    /// Returns a short description of what the campaign tests or measures.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Tables => "the vendored tables derived again from the proving key, a minute",
            Self::RandomProofs => {
                "proofs of random members against zerokit, minutes; UNDERTONE_PROOF_CASES=200 are made"
            }
            Self::Light => {
                "a light node among service peers that die, sleep and lie while packets are lost, 10 to 20 minutes; \
                 UNDERTONE_LIGHT_SEED=1, UNDERTONE_LIGHT_S=600; needs nftables and network namespaces"
            }
            Self::SendKill => {
                "a node that sends killed 60 times at random moments, minutes; UNDERTONE_SEND_SEED replays them; needs \
                 PostgreSQL"
            }
            Self::ArchiveKill => {
                "writers of archives killed 50 times at random moments, minutes; needs PostgreSQL"
            }
            Self::Archive => {
                "a million messages, pages, six months of retention, minutes; needs PostgreSQL; -- --help"
            }
            Self::Sync => {
                "two stores of 100,000 messages that differ in 1,000 are made equal, a minute"
            }
            Self::Nat => {
                "nodes behind routers that translate addresses reach each other, minutes; needs root, nftables and miniupnpd"
            }
            Self::Discovery => {
                "nodes find each other by discv5 while nodes die and addresses change, a quarter of an hour; \
                 UNDERTONE_DISCOVERY_SEED=1, UNDERTONE_DISCOVERY_MINUTES=10; needs network namespaces"
            }
            Self::Start => {
                "size of an operator's program and time from start to listening, a minute besides the build; \
                 UNDERTONE_START_PROGRAM=PATH measures another one"
            }
            Self::Nwaku => {
                "the reference node in one network with ours, minutes; needs UNDERTONE_NWAKU=PATH of its program wakunode2, \
                 and npm"
            }
            Self::Upgrade => {
                "nodes of an earlier version in one network with the present one, a minute; needs UNDERTONE_EARLIER=PATH of its \
                 program"
            }
            Self::Profiles => {
                "a hundred nodes of other implementations beside simulated ones, a quarter of an hour; needs network namespaces and npm; \
                 -- --help"
            }
            Self::Hostile => {
                "attacks on a real node and the restart matrix, half an hour; -- --list names the attacks"
            }
            Self::Fuzz => {
                "readers of strangers' bytes and users' files, and machines, fed by libFuzzer, an hour; UNDERTONE_FUZZ_S=180 for \
                 each target; -- names some of them"
            }
            Self::Soak => {
                "what two stores, a publisher and a light node hold among strangers and registrations, two hours; UNDERTONE_SOAK_S=7200"
            }
            Self::Mpi => {
                "100,000 nodes on 1, 2 and 4 processes have one trace, minutes; needs Open MPI and libclang"
            }
            Self::Ray => {
                "a sweep on three worker processes of Ray, one of which is killed, minutes; needs Python and PyPI"
            }
            Self::Notebooks => {
                "the notebooks of the Python package draw the paper's figures, minutes; needs Python and PyPI"
            }
        }
    }

    /// Returns the campaign's cargo commands, of which the last one gets the arguments; none for those that run in another way.
    fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Tables => &[&[
                "test",
                "--release",
                "--package",
                "undertone-rln",
                "--lib",
                "--",
                "--ignored",
                DERIVATION,
            ]],
            Self::RandomProofs => &[&[
                "test",
                "--release",
                "--package",
                "undertone-rln",
                "--test",
                "it",
                "--",
                RANDOM_PROOFS,
                "--ignored",
                "--nocapture",
            ]],
            // With the dev profile, because it waits most of the time.
            Self::Light => &[
                &["test", "--workspace", "--test=guides", "--no-run"],
                &[
                    "test",
                    "--workspace",
                    "--test=light",
                    "--",
                    "--ignored",
                    "--nocapture",
                ],
            ],
            // With the dev profile, because it waits most of the time.
            Self::Nat => &[&[
                "test",
                "--workspace",
                "--test=it",
                "--",
                "walls::",
                "--ignored",
                "--nocapture",
            ]],
            // With the dev profile, because it waits most of the time.
            Self::Nwaku => &[&[
                "test",
                "--workspace",
                "--test=it",
                "--",
                "nwaku::",
                "--ignored",
                "--nocapture",
            ]],
            // With the dev profile, because it waits most of the time.
            Self::Upgrade => &[
                &["test", "--workspace", "--test=guides", "--no-run"],
                &[
                    "test",
                    "--workspace",
                    "--test=upgrade",
                    "--",
                    "--ignored",
                    "--nocapture",
                ],
            ],
            // With the dev profile, because it waits most of the time.
            Self::Discovery => &[&[
                "test",
                "--workspace",
                "--test=it",
                "--",
                "discovery::",
                "--ignored",
                "--nocapture",
            ]],
            // With the dev profile, in which the suite runs it with fewer kills.
            Self::SendKill => &[&[
                "test",
                "--workspace",
                ASSEMBLED,
                "--",
                SENDING_KILL,
                "--include-ignored",
                "--nocapture",
                "--test-threads=1",
            ]],
            Self::ArchiveKill => &[&[
                "test",
                "--release",
                "--package",
                "undertone-archive",
                "--test",
                ARCHIVE,
                "--",
                CRASH,
                "--nocapture",
            ]],
            Self::Archive => &[&[
                "run",
                "--profile",
                "dist",
                "--package",
                "undertone-archive",
                "--example",
                THROUGHPUT,
                "--",
            ]],
            Self::Sync => &[&[
                "test",
                "--profile",
                "dist",
                "--package",
                "undertone-node",
                "--test",
                SYNC_SPEED,
                "--",
                "--ignored",
                "--nocapture",
            ]],
            Self::Hostile => &[
                &["build", "--profile", "dist", "--package", "undertone"],
                &[
                    "run",
                    "--profile",
                    "dist",
                    "--package",
                    "undertone-interop",
                    "--bin",
                    "hostile",
                    "--",
                ],
            ],
            Self::Soak => &[
                &["build", "--profile", "dist", "--package", "undertone"],
                &[
                    "run",
                    "--profile",
                    "dist",
                    "--package",
                    "undertone-interop",
                    "--bin",
                    "hostile",
                    "--",
                    "--soak",
                ],
            ],
            Self::Mpi | Self::Ray | Self::Notebooks | Self::Start | Self::Profiles | Self::Fuzz => {
                &[]
            }
        }
    }

    /// Returns the variables of the campaign's commands.
    fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::ArchiveKill => &[("UNDERTONE_CRASH_ROUNDS", "50")],
            Self::SendKill => &[("UNDERTONE_SEND_KILLS", "60")],
            Self::Light => &[LIGHT_LOSS],
            _ => &[],
        }
    }

    /// Runs the campaign in the workspace at `root`, and prints its commands.
    pub(crate) fn run(self, root: &Path, arguments: &[String]) -> Outcome {
        match self {
            Self::Ray => return python::ray(root),
            Self::Notebooks => return python::notebooks(root),
            Self::Mpi => return mpi::campaign(root),
            Self::Start => return start::run(root),
            Self::Profiles => return profiles::run(root, arguments),
            Self::Fuzz => return fuzz::run(root, arguments),
            _ => {}
        }
        if matches!(self, Self::ArchiveKill | Self::Archive | Self::SendKill)
            && let Err(reason) = archive::install()
        {
            return Outcome::Failed(reason);
        }
        let needed = match self {
            Self::Nwaku => Some(REFERENCE),
            Self::Upgrade => Some(EARLIER_VERSION),
            _ => None,
        };
        if let Some(program) = needed
            && let Err(reason) = program.check(env::var_os(program.variable).as_deref())
        {
            return Outcome::Failed(reason);
        }
        if self == Self::Nwaku
            && let failed @ Outcome::Failed(_) = contracts::install(root, NPM)
        {
            return failed;
        }
        if self == Self::Nat
            && let Err(reason) = walls::install()
        {
            return Outcome::Failed(reason);
        }
        let namespace = match self {
            Self::Light => lossy::cargo_options(root, LIGHT_LOSS.1),
            Self::Discovery => namespaces::right_to_make().map(|right| {
                let options = right.cargo_options().iter();
                options.map(ToString::to_string).collect()
            }),
            _ => Ok(Vec::new()),
        };
        let namespace = match namespace {
            Ok(options) => options,
            Err(reason) => return Outcome::Failed(reason),
        };
        let commands = self.commands();
        for (index, command) in commands.iter().enumerate() {
            let mut words = command.to_vec();
            if index + 1 == commands.len() {
                let test = words.iter().position(|word| *word == "--");
                let test = test.unwrap_or(words.len());
                words.splice(test..test, namespace.iter().map(String::as_str));
                words.extend(arguments.iter().map(String::as_str));
            }
            eprintln!("cargo {}", words.join(" "));
            match cargo(root, &words, self.variables()) {
                Outcome::Passed => {}
                failed => return failed,
            }
        }
        Outcome::Passed
    }
}

/// Variable with the path of a program that a campaign needs, and the way to get one.
struct GivenProgram {
    variable: &'static str,
    what: &'static str,
    how: &'static str,
}

/// Program of the reference node.
const REFERENCE: GivenProgram = GivenProgram {
    variable: NWAKU,
    what: "wakunode2",
    how: "build it with `make wakunode2` in a clone of its repository (logos-messaging/logos-delivery), or take \
          /usr/bin/wakunode out of its container image",
};

/// Program of an earlier version.
const EARLIER_VERSION: GivenProgram = GivenProgram {
    variable: EARLIER,
    what: "the program `undertone` of an earlier version",
    how: "build it with `cargo build --release` in a worktree of its commit",
};

impl GivenProgram {
    /// Checks that the variable names a program; an error says how to get one.
    fn check(&self, path: Option<&OsStr>) -> Result<(), String> {
        let Self {
            variable,
            what,
            how,
        } = self;
        match path.map(Path::new) {
            None => Err(format!(
                "no program: set {variable} to the path of {what}; {how}"
            )),
            Some(path) if !path.is_file() => {
                Err(format!("{variable}: no file {}; {how}", path.display()))
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
