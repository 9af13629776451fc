//! The commands that talk to a chain, on a chain of their own.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod doctor;
mod history;

use std::fs;
use std::future::Future;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{Account, DevChain, DevChainOptions, Membership, reader};
use undertone_rln::IdentityFile;

/// In the middle of an epoch of 600 s.
const T: &str = "1700000100000000000";

const SYNC: &str = "registry sync --rpc RPC --contract CONTRACT --store members";

struct Place {
    folder: TempDir,
    chain: DevChain,
    contract: String,
}

impl Place {
    /// A chain with the contract, and the member `alice`, whose holder is the owner.
    fn new() -> Self {
        Self::since(None)
    }

    /// The same on a chain whose first block has this Unix time, seconds.
    fn since(start_s: Option<u64>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = DevChainOptions {
            start_s,
            ..DevChainOptions::default()
        };
        let chain = DevChain::start(&options).unwrap();
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
        command.env_remove("UNDERTONE_ETH_KEY").stdin(Stdio::null());
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
    assert_eq!(place.json(SYNC)["members"], 0);
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
fn what_is_erased_lazily_keeps_its_leaf() {
    let place = Place::new();
    wait(place.chain.advance(2000)).unwrap();
    let member = "--rpc RPC --contract CONTRACT --eth-key-file slasher --identity alice";
    place.json(&format!("rln erase {member} --lazily"));
    assert_eq!(place.status()["state"], "none");
    assert_eq!(place.json(SYNC)["members"], 1);
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

    // Two messages of twenty that it may publish.
    let (code, said) = place.fails(&format!("{slash} --message one --message two"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("show 2 of the member"), "{said}");
    assert_ne!(place.status()["state"], "slashed");
    let slash = format!("{slash} --double-signal-suffices");
    let slashed = place.json(&format!("{slash} --message one --message two"));
    assert_eq!(
        (&slashed["burned"], &slashed["reward"]),
        (&"30".into(), &"30".into())
    );
    assert_eq!(slashed["commitment"], place.status()["commitment"]);
    assert_eq!(place.status()["state"], "slashed");

    let claim = "rln claim --rpc RPC --contract CONTRACT --eth-key-file slasher --commitment";
    let (code, said) = place.fails(&format!("{claim} abc"));
    assert_eq!(code, 2, "{said}");
    let claim = format!("{claim} {}", slashed["commitment"].as_str().unwrap());
    let (code, said) = place.fails(&claim);
    assert_eq!(code, 1, "{said}");
    let from = slashed["reward_from_s"].to_string();
    assert!(said.contains("paid from") && said.contains(&from), "{said}");
    wait(place.chain.advance(1000)).unwrap();
    let claimed = place.json(&claim);
    assert_eq!(claimed["reward"], "30");
    assert_eq!(claimed["receiver"], slashed["receiver"]);
    let (code, said) = place.fails(&claim);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("no reward"), "{said}");
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

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn registering_shows_the_price_and_asks() {
    let place = Place::new();
    place.json("rln keygen --out bob");
    let register = "rln register --rpc RPC --contract CONTRACT --eth-key-file owner";
    let bob = format!("{register} --identity bob --limit 30");

    let (code, said) = place.fails(&bob);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("30 messages per epoch for a deposit of 90 of token 0x"),
        "{said}"
    );
    assert!(
        said.contains("nothing was paid") && said.contains("--yes"),
        "{said}"
    );
    let status = "rln status --rpc RPC --contract CONTRACT --identity bob";
    assert_eq!(place.json(status)["state"], "none");

    let mut asked = place.command(&bob);
    let mut asked = asked
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    asked.stdin.take().unwrap().write_all(b"Yes\n").unwrap();
    assert!(asked.wait().unwrap().success());
    let bob = place.json(status);
    assert_eq!(
        (&bob["state"], &bob["limit"]),
        (&"active".into(), &30.into())
    );
    assert_eq!((&bob["index"], &bob["deposit"]), (&1.into(), &"90".into()));

    let (code, said) = place.fails(&format!("{register} --identity bob --yes"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is member 1 already"), "{said}");

    place.json("rln keygen --out carol");
    let poor = "rln register --rpc RPC --contract CONTRACT --eth-key-file slasher --identity carol";
    let (code, said) = place.fails(&format!("{poor} --yes"));
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("a limit of 20 takes a deposit of 60"),
        "{said}"
    );
    let carol = place.json(&format!("{register} --identity carol --yes"));
    assert_eq!((&carol["index"], &carol["limit"]), (&2.into(), &20.into()));
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn a_contract_is_read_into_a_file_and_compared() {
    let place = Place::new();
    place.json("rln keygen --out bob");
    let register = "--identity bob --yes --eth-key-file owner";
    let root = || {
        let (contract, _) = place.library();
        let word = wait(contract.read(RlnMembership::rootCall {})).unwrap();
        hex::encode(word.to_le_bytes::<32>())
    };

    let first = place.json(SYNC);
    assert_eq!(
        (&first["members"], &first["chain_id"]),
        (&1.into(), &31_337.into())
    );
    assert_eq!(first["root"], root());
    place.json(&format!(
        "rln register --rpc RPC --contract CONTRACT {register}"
    ));
    let second = place.json(SYNC);
    assert_eq!(second["members"], 2);
    assert_eq!(second["root"], root());
    assert_ne!(second["root"], first["root"]);
    assert!(
        second["block"].as_u64() > first["block"].as_u64(),
        "{second}"
    );
    assert!(second["requests"].as_u64() > Some(0), "{second}");
    assert!(second["received_bytes"].as_u64() > Some(0), "{second}");

    // Nobody listens at the first endpoint.
    let third = place.json(&SYNC.replace("--rpc", "--rpc http://127.0.0.1:1 --rpc"));
    assert_eq!(third["root"], second["root"]);
    assert_eq!(third["chain_id"], 31_337);

    let other = format!("{SYNC} --chain-id 1 --patience-s 0");
    let (code, said) = place.fails(&other);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("chain 31337"), "{said}");
    let elsewhere = format!("{SYNC}2 --chain-id 1 --patience-s 0");
    let (code, said) = place.fails(&elsewhere);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("chain"), "{said}");
}

#[test]
fn a_registry_is_a_file_or_a_contract() {
    let file = ["rln", "register", "--identity", "i", "--registry", "r"];
    let address = "0x0000000000000000000000000000000000000001";
    for more in [
        &["--contract", address][..],
        &["--rpc", "http://127.0.0.1:1"],
        &["--yes"],
        &["--rpc", "http://127.0.0.1:1", "--contract", address],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        let output = command.args(file).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}
