//! Chain, members and processes of the campaign: nodes of ours, and the reference node with the flags of the commit in
//! crates/apps/migrate/tests/flags.txt.

use std::cell::Cell;
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;
use undertone_contracts::{DevChain, DevChainOptions};
use undertone_node_process::{NodeProcess, free_port};

use crate::support::process::{Node, Rest};

/// Password of the reference node's keystores.
const PASSWORD: &str = "campaign";

pub(crate) struct World {
    folder: TempDir,
    chain: DevChain,
    contract: String,
    program: PathBuf,
    /// Number of members; the next one has this index.
    members: Cell<u32>,
}

/// Process of the reference node, which is killed when it is dropped.
pub(crate) struct Reference {
    _process: NodeProcess,
    /// Time of its start.
    pub(crate) begun: Instant,
    pub(crate) rest: Rest,
}

impl World {
    /// A chain with the contract, and nobody on it.
    pub(crate) fn new() -> Self {
        let program = env::var_os("UNDERTONE_NWAKU").map(PathBuf::from);
        let program = program.expect("UNDERTONE_NWAKU is the path of the reference node");
        let program = program
            .canonicalize()
            .expect("UNDERTONE_NWAKU names a file");
        let chain = DevChain::start(&DevChainOptions::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("password"), PASSWORD).unwrap();
        let key = hex::encode(chain.keys()[0].to_bytes());
        fs::write(folder.path().join("key"), key).unwrap();
        let mut world = Self {
            folder,
            chain,
            contract: String::new(),
            program,
            members: Cell::new(0),
        };
        let deployed = world.undertone("registry deploy --rpc RPC --eth-key-file key");
        world.contract = deployed["contract"].as_str().unwrap().to_owned();
        world
    }

    /// Runs a command of ours in the folder, and returns what it prints.
    fn undertone(&self, line: &str) -> Value {
        let words = line.split(' ').map(|word| match word {
            "RPC" => self.chain.endpoint(),
            "CONTRACT" => &self.contract,
            word => word,
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command.args(words).arg("--json").current_dir(&self.folder);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Folder of a node with an identity that is registered; returns the member's index too.
    fn member(&self, name: &str) -> (PathBuf, u32) {
        let home = self.folder.path().join(name);
        fs::create_dir(&home).unwrap();
        let identity = format!("{name}/rln-identity.json");
        self.undertone(&format!("rln keygen --out {identity}"));
        let registered = self.undertone(&format!(
            "rln register --yes --rpc RPC --contract CONTRACT --eth-key-file key --limit 100 --identity {identity}"
        ));
        let index = self.members.get();
        assert_eq!(registered["index"], index);
        self.members.set(index + 1);
        (home, index)
    }

    /// A node of ours that is a member.
    pub(crate) fn node(&self, name: &str, flags: &[&str]) -> Node {
        let (home, _) = self.member(name);
        let mut command = undertone_node_process::command(env!("CARGO_BIN_EXE_undertone"));
        command.args(["node", "--json", "--network=local"]);
        command.args(["--rest-admin=true", "--rest-auth=none"]);
        command.args([
            "--listen-address=127.0.0.1",
            "--tcp-port=0",
            "--rest-port=0",
        ]);
        command.arg(format!("--rln-eth-rpc={}", self.chain.endpoint()));
        command.arg(format!("--rln-eth-contract=eip155:31337:{}", self.contract));
        command.arg("--data-dir").arg(&home).args(flags);
        Node::start(&mut command, &home.join("log"))
    }

    /// The reference node, a member too, with a keystore that we write.
    pub(crate) fn reference(&self, name: &str, flags: &[&str]) -> Reference {
        let (home, index) = self.member(name);
        self.undertone(&format!(
            "rln keystore import --keystore {name}/keystore.json --password-file password --identity \
             {name}/rln-identity.json --chain-id 31337 --contract CONTRACT --index {index} --limit 100"
        ));
        let rest = Rest {
            port: free_port().unwrap(),
            said: home.join("log"),
        };
        let mut command = Command::new(&self.program);
        command.current_dir(&home);
        command.args(["--cluster-id=66", "--num-shards-in-network=8"]);
        command.args((0..8).map(|shard| format!("--shard={shard}")));
        command.args(["--listen-address=127.0.0.1", "--nat=extip:127.0.0.1"]);
        command.arg(format!("--tcp-port={}", free_port().unwrap()));
        // All nodes are at one address here.
        command.args(["--ip-colocation-limit=0", "--max-msg-size=1024KiB"]);
        command.args(["--relay=true", "--rest=true", "--rest-admin=true"]);
        command.arg(format!("--rest-port={}", rest.port));
        command.args(["--rln-relay=true", "--rln-relay-dynamic=true"]);
        command.args([
            "--rln-relay-epoch-sec=600",
            "--rln-relay-user-message-limit=100",
        ]);
        command.args([
            "--rln-relay-chain-id=31337",
            "--rln-relay-cred-path=keystore.json",
        ]);
        command.arg(format!("--rln-relay-cred-password={PASSWORD}"));
        command.arg(format!("--rln-relay-membership-index={index}"));
        let endpoint = self.chain.endpoint();
        command.arg(format!("--rln-relay-eth-client-address={endpoint}"));
        command.arg(format!(
            "--rln-relay-eth-contract-address={}",
            self.contract
        ));
        command.args(flags).stdin(Stdio::null());
        let said = File::create(&rest.said).unwrap();
        command.stdout(said.try_clone().unwrap()).stderr(said);
        let child = command.spawn().expect("the reference node can be run");
        let reference = Reference {
            _process: NodeProcess::new(child, rest.said.clone()),
            begun: Instant::now(),
            rest,
        };
        // It listens only some time after its start.
        reference.rest.until("/health", |_| true);
        reference
    }
}

/// Flags that the campaign gives are flags that the reference node has.
#[test]
fn flags_are_those_of_the_reference_node() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = fs::read_to_string(here.join("../migrate/tests/flags.txt")).unwrap();
    let (present, _) = known.split_once("# Former flags").unwrap();
    let known: Vec<_> = present.lines().collect();
    let texts = [include_str!("../nwaku.rs"), include_str!("world.rs")];
    let of_ours = [
        "json",
        "network",
        "data-dir",
        "rest-port",
        "rest-auth",
        "static-peers",
        "websocket",
        "ws-port",
        "rln-eth-rpc",
        "rln-eth-contract",
        "contract",
        "eth-key-file",
        "identity",
        "limit",
        "out",
        "rpc",
        "yes",
        "index",
        "chain-id",
        "keystore",
        "password-file",
        "only",
    ];
    let mut theirs = 0;
    for text in texts {
        for part in text.split("--").skip(1) {
            let end =
                part.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-');
            let name = &part[..end.unwrap_or(part.len())];
            // Tables have lines of their own.
            let is_line = name.trim_matches('-').is_empty();
            if is_line || of_ours.contains(&name) {
                continue;
            }
            theirs += 1;
            assert!(known.contains(&name), "--{name}");
        }
    }
    assert!(theirs > 20, "{theirs}");
}
