//! Steps of `cargo xtask test`: what each checks, its requirements, and its commands.

use crate::needs::{self, Need};

/// Step of the test run.
#[derive(Debug)]
pub(crate) struct Step {
    /// Name in `--only`, `--skip` and the report.
    pub(crate) name: &'static str,
    /// Description of what it checks.
    pub(crate) about: &'static str,
    pub(crate) tier: Tier,
    /// If any of these is missing, the step is skipped.
    pub(crate) needs: &'static [Need],
    /// Commands, run in order until one fails.
    pub(crate) commands: &'static [Command],
}

/// Set of steps that run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// `cargo xtask test`: needs Rust and a C compiler, installs nothing.
    Bare,
    /// `cargo xtask test --all`: steps that need more, or take long.
    All,
}

/// Shell command in the root of the workspace. `{target}` stands for cargo's target folder, `{as_root}` for a prefix
/// that permits the command to create network namespaces.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) line: &'static str,
    /// If any of these is missing, the command is left out, and the step can still pass.
    pub(crate) needs: &'static [Need],
}

const fn run(line: &'static str) -> Command {
    Command { line, needs: &[] }
}

const fn run_if(needs: &'static [Need], line: &'static str) -> Command {
    Command { line, needs }
}

/// Builds the program `undertone` and the examples. With the examples, cargo enables the same features of
/// dependencies as for tests, so no dependency is compiled again.
const PROGRAMS: Command = run("cargo build --workspace --bin undertone --examples");

/// All steps in the order in which they run, the quickest first. Every command selects the whole workspace, because
/// cargo recompiles a dependency for each selection of packages that enables other features of it.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        about: "all code is formatted",
        tier: Tier::Bare,
        needs: &[needs::RUSTFMT],
        commands: &[
            run("cargo fmt --all --check"),
            run("cd fuzz && cargo fmt --check"),
            run("cd crates/edge/bindings && cargo fmt --all --check"),
            run("cd crates/edge/python && cargo fmt --check"),
            run("rustfmt --check --edition 2024 xtask/outside/*.rs"),
        ],
    },
    Step {
        name: "tidy",
        about: "length of files, leftovers in code, ignored tests, dependencies explained",
        tier: Tier::Bare,
        needs: &[],
        commands: &[run("cargo xtask tidy")],
    },
    Step {
        name: "clippy",
        about: "everything compiles without a warning of rustc or clippy",
        tier: Tier::Bare,
        needs: &[needs::CLIPPY],
        commands: &[
            run("cargo clippy --workspace --all-targets -- -D warnings"),
            // Includes the tests that a plain `cargo test` leaves out.
            run("cargo clippy --workspace --test '*' -- -D warnings"),
        ],
    },
    Step {
        name: "unit",
        about: "unit, property and network tests, tests on real nodes",
        tier: Tier::Bare,
        needs: &[],
        // Snapshots are compared, not written; the step `archive` covers those that need PostgreSQL.
        commands: &[
            run(
                "INSTA_UPDATE=no UNDERTONE_SKIP_POSTGRES=1 cargo test --workspace --tests --no-fail-fast",
            ),
            run_if(
                &[needs::CURL],
                "cargo test --workspace --test guides -- --ignored readme::",
            ),
            run_if(
                &[needs::MOUNTS],
                "{as_root}unshare --mount cargo test --workspace --test it --test archive -- --ignored disk",
            ),
        ],
    },
    Step {
        name: "doc",
        about: "the examples in the documentation run, and it builds without a warning",
        tier: Tier::Bare,
        needs: &[],
        commands: &[
            run("cargo test --workspace --doc"),
            run("RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps"),
        ],
    },
    Step {
        name: "examples",
        about: "the examples of the libraries run and do what they show",
        tier: Tier::Bare,
        needs: &[],
        commands: &[
            PROGRAMS,
            run("{target}/debug/examples/custom_strategy"),
            run("{target}/debug/examples/custom_validator"),
            run("{target}/debug/examples/embedded_node"),
            run("{target}/debug/examples/lossy_link"),
            run("{target}/debug/examples/reliable_channel"),
            run("{target}/debug/examples/rln_module"),
            run("{target}/debug/examples/run_scenario"),
            run("{target}/debug/examples/thousand_nodes"),
            run("{target}/debug/examples/two_nodes"),
            run("{target}/debug/examples/verify_message"),
        ],
    },
    Step {
        name: "openapi",
        about: "generated requests to the REST API of a real node, and its traces at a collector",
        tier: Tier::Bare,
        needs: &[needs::PYTHON, needs::REST_TOOLS],
        commands: &[run("UNDERTONE_OPENAPI_TEST=1 UNDERTONE_TRACES_TEST=1 \
             cargo test --workspace --test it -- openapi:: traces::")],
    },
    Step {
        name: "wasm",
        about: "the libraries compile for browsers",
        tier: Tier::All,
        needs: &[needs::WASM],
        commands: &[run(
            "cargo check --lib --no-default-features --target wasm32-unknown-unknown \
             --package undertone-wire --package undertone-gossip --package undertone-message \
             --package undertone-link --package undertone-rln --package undertone-relay \
             --package undertone-sim --package undertone-services --package undertone-payload",
        )],
    },
    Step {
        name: "outside",
        about: "packages outside the workspace use the libraries; the program without its laboratory",
        tier: Tier::All,
        needs: &[],
        commands: &[
            run("cargo check --package undertone --no-default-features"),
            // Uses the versions of the workspace; cargo removes from the copy what the packages do not use.
            run("cp Cargo.lock xtask/outside/Cargo.lock"),
            run("cd xtask/outside && cargo run --offline --package outside-strategy"),
            run("cd xtask/outside && cargo run --offline --package outside-scenario"),
            // Its source is one of the examples that run above.
            run("cd xtask/outside && cargo check --offline --package outside-node"),
        ],
    },
    Step {
        name: "package",
        about: "the libraries can be packed for publication, and compile as they are packed",
        tier: Tier::All,
        needs: &[],
        commands: &[
            run("rm -rf {target}/package"),
            // Without lock files, for which cargo would look up the other packages in the registry.
            run(
                "cargo package --offline --no-verify --allow-dirty --exclude-lockfile --quiet \
                 --package undertone-compact --package undertone-wire --package undertone-link \
                 --package undertone-gossip --package undertone-message --package undertone-rln \
                 --package undertone-relay --package undertone-services --package undertone-sds --package undertone-peers \
                 --package undertone-sim --package undertone-payload --package undertone-discovery",
            ),
            run(
                "cd {target}/package && for packed in *.crate; do mkdir ${packed%-*} && \
                 tar -xzf $packed -C ${packed%-*} --strip-components 1 && test -f ${packed%-*}/README.md || exit 1; done",
            ),
            run("cp Cargo.lock xtask/packed/Cargo.toml {target}/package/"),
            run("cd {target}/package && cargo check --offline --workspace"),
        ],
    },
    Step {
        name: "audit",
        about: "where dependencies come from, their licences, known advisories",
        tier: Tier::All,
        needs: &[needs::CARGO_DENY],
        commands: &[
            run("for at in . crates/edge/bindings crates/edge/python; do \
                 (cd $at && cargo deny --locked check bans licenses sources) || exit 1; done"),
            run_if(
                &[needs::ADVISORIES],
                "for at in . crates/edge/bindings crates/edge/python; do \
                 (cd $at && cargo deny --locked check advisories) || exit 1; done",
            ),
        ],
    },
    Step {
        name: "deploy",
        about: "linters and promtool accept the files in deploy/, alerts fire when they should",
        tier: Tier::All,
        needs: &[
            needs::PROMTOOL,
            needs::PYTHON,
            needs::PYTHON_LINTERS,
            needs::NPM,
            needs::DCLINT,
            needs::GO,
            needs::KUBE_SCORE,
        ],
        commands: &[
            run("promtool check config deploy/prometheus/prometheus.yml"),
            run("promtool check rules --lint=all --lint-fatal deploy/prometheus/alerts.yml"),
            run("promtool test rules deploy/prometheus/alerts_test.yml"),
            run(
                "cargo xtask dashboard deploy/grafana/undertone.json >{target}/deploy/dashboard.yml && \
                 promtool check rules {target}/deploy/dashboard.yml",
            ),
            run("{target}/deploy/venv/bin/hadolint --no-color deploy/docker/Dockerfile"),
            // Images that are built locally also have a name with a version.
            run(
                "{target}/deploy/node_modules/.bin/dclint deploy/docker/compose.yaml --quiet \
                 --disable-rule no-build-and-image",
            ),
            run(
                "{target}/deploy/venv/bin/compose-lint check --quiet --strict-config --fail-on low \
                 --config deploy/docker/compose-lint.yaml deploy/docker/compose.yaml",
            ),
            // Without the list, which is for kustomize.
            run(
                "{target}/deploy/go/kube-score score --output-format=ci --exit-one-on-warning \
                 $(ls deploy/kubernetes/*.yaml | grep -v kustomization)",
            ),
        ],
    },
    Step {
        name: "contracts",
        about: "the contract's artifacts, its tests on a chain, and those of what follows a chain",
        tier: Tier::All,
        needs: &[needs::NPM, needs::CONTRACT_PACKAGES],
        commands: &[
            run("cd contracts && npm run --silent check"),
            run("cargo test --workspace --test contract"),
            run("cargo test --workspace --test it --test guides \
                 -- --ignored chain:: chain_cli:: demo:: deployed:: first_steps::"),
        ],
    },
    Step {
        name: "archive",
        about: "the archive of messages on SQLite and PostgreSQL, nodes whose archive fails",
        tier: Tier::All,
        needs: &[needs::POSTGRESQL],
        commands: &[
            run("cargo test --workspace --test archive"),
            run("cargo test --workspace --test it -- store_faults::"),
        ],
    },
    Step {
        name: "page",
        about: "in a browser: the HTML report, and pages that attack a node",
        tier: Tier::All,
        needs: &[needs::NPM, needs::CHROMIUM, needs::PAGE_PACKAGES],
        commands: &[
            PROGRAMS,
            // Records with every shape of chart and every verdict.
            run("mkdir -p {target}/page && {target}/debug/examples/page \
                 crates/lab/lab/tests/records {target}/page/report.html"),
            run(
                "node crates/lab/pages/tests/browser/check.mjs {target}/page/report.html \
                 $(which chromium chromium-browser google-chrome | head -n 1) {target}/page",
            ),
            run(
                "node crates/node/node/tests/browser/check.mjs {target}/debug/undertone \
                 $(which chromium chromium-browser google-chrome | head -n 1)",
            ),
        ],
    },
    Step {
        name: "bindings",
        about: "programs in Python, C and Kotlin on the shared libraries; Swift is generated only",
        tier: Tier::All,
        needs: &[needs::CLIPPY, needs::CXX, needs::PYTHON],
        commands: &[
            run("cd crates/edge/bindings && cargo clippy --workspace --all-targets -- -D warnings"),
            run("cd crates/edge/bindings && cargo test --workspace --tests --no-fail-fast"),
            run("cd crates/edge/bindings && \
                 RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps"),
            run_if(
                &[needs::MAVEN],
                "cd crates/edge/bindings && cargo test --workspace --tests -- --ignored",
            ),
        ],
    },
    Step {
        name: "python",
        about: "the laboratory as a Python package: installed, tested, its types checked",
        tier: Tier::All,
        needs: &[needs::CLIPPY, needs::PYTHON, needs::PYPI],
        commands: &[
            run("cd crates/edge/python && cargo clippy -- -D warnings"),
            run("cd crates/edge/python && RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"),
            run("python3 -m venv --clear {target}/python/venv"),
            run(
                "cd crates/edge/python && MATURIN_PEP517_ARGS='--profile dev' \
                 {target}/python/venv/bin/pip install --quiet '.[test]'",
            ),
            run("cd crates/edge/python && {target}/python/venv/bin/python -m pytest tests"),
            run(
                "cd crates/edge/python && {target}/python/venv/bin/python -m mypy \
                 python/undertone tests campaigns notebooks",
            ),
            run(
                "cd crates/edge/python && {target}/python/venv/bin/python -m mypy.stubtest undertone._native",
            ),
        ],
    },
    Step {
        name: "mpi",
        about: "one run on several processes has one trace",
        tier: Tier::All,
        needs: &[needs::MPI],
        commands: &[
            run("cargo build --workspace --bin undertone --features undertone/mpi"),
            run("cargo xtask traces"),
        ],
    },
    Step {
        name: "interop",
        about: "tests against other implementations",
        tier: Tier::All,
        needs: &[needs::NPM, needs::PEERS],
        commands: &[run("cargo test --workspace --test peers --test benches")],
    },
    Step {
        name: "services",
        about: "js-waku's light clients, and discovery of others, on real nodes",
        tier: Tier::All,
        needs: &[needs::NPM, needs::PEERS],
        commands: &[
            PROGRAMS,
            // Each test has two nodes and a few clients.
            run("cargo test --workspace --test services -- --test-threads=2"),
            run_if(
                &[needs::GO, needs::GO_PEER],
                "cargo test --workspace --test services -- --ignored --test-threads=2 go_ethereum::",
            ),
        ],
    },
    Step {
        name: "browser",
        about: "a js-waku light client in a page, on real nodes",
        tier: Tier::All,
        needs: &[needs::NPM, needs::PEERS, needs::CHROMIUM],
        commands: &[
            PROGRAMS,
            run(
                "UNDERTONE_CHROMIUM=$(which chromium chromium-browser google-chrome | head -n 1) \
                 cargo test --workspace --test services -- --ignored page::",
            ),
        ],
    },
    Step {
        name: "testbed",
        about: "real TCP and real nodes in network namespaces",
        tier: Tier::All,
        needs: &[needs::NAMESPACES],
        commands: &[
            run("{as_root}cargo test --workspace --test devices --test profiles"),
            run("{as_root}cargo test --workspace --test it -- --ignored testbed::"),
        ],
    },
    Step {
        name: "hostile",
        about: "attacks on real nodes and their restarts, and light nodes with dead and lying peers, in short",
        tier: Tier::All,
        needs: &[],
        commands: &[
            PROGRAMS,
            // Attacks mostly wait.
            run(
                "cargo test --workspace --test hostile --test crowds --test light --test upgrade -- --test-threads=4",
            ),
        ],
    },
];

#[cfg(test)]
#[path = "tests/steps.rs"]
mod tests;
