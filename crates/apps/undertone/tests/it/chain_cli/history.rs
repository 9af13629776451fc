//! History verified against the members that a contract had at its time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_contracts::DevChainOptions;
use undertone_membership::MemberIndex;
use undertone_membership::evm::{Contract, EvmConfig, EvmRegistry};
use undertone_message::WakuMessage;
use undertone_rln::{Identity, IdentityFile, MerklePath};
use undertone_services::history::StoredMessage;

use crate::chain_cli::{Place, wait};
use crate::support::author::Author;

/// The longest epoch that a node takes, so that no message is in another one.
const EPOCH_S: u64 = 1_000_000_000;

/// Limit of `alice`.
const LIMIT: u32 = 20;

/// Path of the first member, read from the chain as nodes do.
fn path(place: &Place) -> MerklePath {
    let contract = Contract {
        chain_id: DevChainOptions::default().chain_id,
        address: place.contract.parse().unwrap(),
    };
    let urls = vec![place.chain.endpoint().to_owned()];
    let store = place.folder.path().join("followed");
    let registry = EvmRegistry::start(EvmConfig::new(contract, urls, store, 50)).unwrap();
    let patience = Duration::from_secs(120);
    let synced = registry
        .chain()
        .wait_until(patience, |status| status.is_synced());
    assert!(synced.is_synced(), "{synced:?}");
    let view = registry.view();
    view.lock().path(MemberIndex::new(0).unwrap())
}

/// Time of the newest block, Unix seconds.
fn chain_s(place: &Place) -> u64 {
    let block: Value = wait(
        place
            .chain
            .request("eth_getBlockByNumber", ("latest", false)),
    )
    .unwrap();
    let digits = block["timestamp"].as_str().unwrap();
    u64::from_str_radix(digits.trim_start_matches("0x"), 16).unwrap()
}

fn keep(place: &Place, messages: &[WakuMessage]) {
    let stored = |message: &WakuMessage| StoredMessage::new("/waku/2/rs/66/0", message.clone());
    let messages: Vec<_> = messages.iter().map(stored).collect();
    let url = ArchiveUrl::sqlite(place.folder.path().join("archive"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let archive = Archive::open(&url, ArchiveOptions::default())
            .await
            .unwrap();
        archive.insert(messages).await.unwrap();
    });
}

fn verify(place: &Place, code: i32, more: &str) -> Value {
    let line = format!(
        "store verify --archive archive --network local --rln-epoch-s {EPOCH_S} --rln-eth-rpc RPC \
         --rln-eth-contract CONTRACT --rln-eth-chain-id 31337 --rln-eth-store verified --json {more}"
    );
    let output = place.command(&line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Number of messages that are valid, and whose root is too old or too new.
fn verdicts(verified: &Value) -> [u64; 3] {
    ["valid", "expired_root", "early_root"]
        .map(|label| verified["verdicts"][label].as_u64().unwrap_or(0))
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn a_member_that_was_removed_is_heard_before_and_not_after() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    // The chain's past is ours too.
    let place = Place::since(Some(now.as_secs() - 10_000));
    let path = path(&place);
    let alice = IdentityFile::read(&place.folder.path().join("alice")).unwrap();
    let author = Author::new(alice, LIMIT, EPOCH_S);
    let message = |at_s: u64, id: u32| {
        let at_ns = i64::try_from(at_s * 1_000_000_000).unwrap();
        author.message(&path, &format!("message {id}"), at_ns, id)
    };
    let joined_s = chain_s(&place);
    let mut messages = vec![message(joined_s - 1000, 0), message(joined_s + 100, 1)];
    wait(place.chain.advance(2000)).unwrap();
    messages.push(message(chain_s(&place) - 100, 2));
    let member = "--rpc RPC --contract CONTRACT --eth-key-file owner";
    place.json(&format!("rln erase {member} --identity alice"));
    let removed_s = chain_s(&place);
    wait(place.chain.advance(1000)).unwrap();
    messages.push(message(removed_s + 500, 3));
    keep(&place, &messages);

    // Relays accept the newest 50 roots however old they are, and so does this by itself.
    let verified = verify(&place, 3, "");
    assert_eq!(verdicts(&verified), [3, 0, 1], "{verified}");
    let strict = verify(&place, 3, "--max-root-age-s 60");
    assert_eq!(verdicts(&strict), [2, 1, 1], "{strict}");

    // Fifty newer roots later, nobody accepts the old one.
    let (contract, owner) = place.library();
    wait(async {
        contract.approve(&owner, 50 * LIMIT).await.unwrap();
        for other in 0..50_u64 {
            let commitment = Identity::from_seed(&other.to_le_bytes()).commitment();
            let joined = contract.register(&owner, &commitment, LIMIT, &[]).await;
            joined.unwrap();
        }
    });
    let full_s = chain_s(&place);
    wait(place.chain.advance(1000)).unwrap();
    keep(&place, &[message(full_s + 500, 4)]);
    let verified = verify(&place, 3, "");
    assert_eq!(verified["messages"], 5, "{verified}");
    assert_eq!(verdicts(&verified), [3, 1, 1], "{verified}");
    assert_eq!(verified["roots"], 52, "{verified}");
    let earlier = verify(
        &place,
        0,
        &format!("--start-s {joined_s} --end-s {removed_s}"),
    );
    assert_eq!(earlier["valid"], 2, "{earlier}");
}
