//! The commands that talk to a chain, on a chain of their own.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

use std::fs;
use std::future::Future;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use undertone_contracts::{Account, DevChain, DevChainOptions, Membership, reader};
use undertone_rln::IdentityFile;

/// In the middle of an epoch of 600 s.
const T: &str = "1700000100000000000";

struct Place {
    folder: TempDir,
    chain: DevChain,
    contract: String,
}

impl Place {
    /// A chain with the contract, and the member `alice`, whose holder is the owner.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let chain = DevChain::start(&DevChainOptions::default()).unwrap();
        for (name, account) in [("owner", 0), ("slasher", 1)] {
            let key = hex::encode(chain.keys()[account].to_bytes());
            fs::write(folder.path().join(name), format!("0x{key}\n")).unwrap();
        }
        let mut place = Self {
            folder,
            chain,
            contract: String::new(),
        };
        let deploy = "registry deploy --rpc RPC --eth-key-file owner --active-s 1000 --grace-s 500";
        let deployed = place.json(&format!("{deploy} --price 3"));
        place.contract = deployed["contract"].as_str().unwrap().to_owned();

        place.json("rln keygen --out alice");
        let (contract, owner) = place.library();
        let alice = IdentityFile::read(&place.folder.path().join("alice")).unwrap();
        wait(async {
            contract.approve(&owner, 20).await.unwrap();
            let joined = contract
                .register(&owner, &alice.commitment(), 20, &[])
                .await;
            joined.unwrap();
        });
        place
    }

    fn library(&self) -> (Membership, Account) {
        let provider = reader(self.chain.endpoint()).unwrap();
        let contract = Membership::new(provider, self.contract.parse().unwrap());
        (contract, self.chain.account(0).unwrap())
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        let words = line.split_whitespace().map(|word| match word {
            "RPC" => self.chain.endpoint(),
            "CONTRACT" => &self.contract,
            word => word,
        });
        command.args(words).current_dir(self.folder.path());
        command.env_remove("UNDERTONE_ETH_KEY");
        command
    }

    fn json(&self, line: &str) -> Value {
        let output = self.command(line).arg("--json").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Exit code and complaint.
    fn fails(&self, line: &str) -> (i32, String) {
        let output = self.command(line).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), stderr)
    }

    fn status(&self) -> Value {
        self.json("rln status --rpc RPC --contract CONTRACT --identity alice")
    }
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn a_membership_is_extended_erased_and_paid_back() {
    let place = Place::new();
    let member = "--rpc RPC --contract CONTRACT --eth-key-file owner";
    let status = place.status();
    assert_eq!(
        (&status["state"], &status["deposit"]),
        (&"active".into(), &"60".into())
    );

    let (code, said) = place.fails(&format!("rln erase {member} --identity alice"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is active"), "{said}");

    wait(place.chain.advance(1000)).unwrap();
    assert_eq!(place.status()["state"], "grace");
    place.json(&format!("rln extend {member} --identity alice"));
    assert_eq!(place.status()["state"], "active");

    wait(place.chain.advance(2000)).unwrap();
    assert_eq!(place.status()["state"], "expired");
    place.json(&format!("rln erase {member} --identity alice"));
    assert_eq!(place.status()["state"], "none");
    assert_eq!(
        place.json(&format!("rln withdraw {member}"))["done"],
        "withdrawn"
    );
    let (code, said) = place.fails(&format!("rln withdraw {member}"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("no deposit"), "{said}");
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn two_messages_with_one_id_slash_their_author() {
    let place = Place::new();
    place.json("rln register --registry r --identity alice --limit 20");
    for name in ["one", "two"] {
        // A counter of its own, so both messages get the same id.
        place.json(&format!(
            "rln prove --registry r --identity alice --counter {name}.c --content-topic \
             /test/1/a/proto --timestamp-ns {T} --payload {name} --out {name}"
        ));
    }
    let slash = "rln slash --rpc RPC --contract CONTRACT --eth-key-file slasher";
    let (code, said) = place.fails(&format!("{slash} --message one"));
    assert_eq!(code, 2, "{said}");
    let (code, said) = place.fails(&format!("{slash} --message one --message one"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("reveal nothing"), "{said}");

    let slashed = place.json(&format!("{slash} --message one --message two"));
    assert_eq!(slashed["reward"], "60");
    assert_eq!(slashed["commitment"], place.status()["commitment"]);
    assert_eq!(place.status()["state"], "slashed");
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn without_a_key_nothing_is_signed() {
    let place = Place::new();
    let line = "rln withdraw --rpc RPC --contract CONTRACT";
    let (code, said) = place.fails(line);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("UNDERTONE_ETH_KEY"), "{said}");
    let (code, said) = place.fails("rln status --rpc nowhere --contract CONTRACT --identity alice");
    assert_eq!(code, 2, "{said}");
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}
