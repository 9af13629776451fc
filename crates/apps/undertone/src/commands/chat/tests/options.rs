use std::fs;

use clap::Parser;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use tracing::Level;
use undertone_payload::SymmetricKey;

use super::Args;

#[derive(Parser, Debug)]
struct Cli {
    #[command(flatten)]
    chat: Args,
}

fn parsed(line: &str) -> Args {
    let words = ["chat"].into_iter().chain(line.split_whitespace());
    Cli::try_parse_from(words).unwrap().chat
}

#[test]
fn a_chat_joins_the_shard_of_its_room_and_serves_nothing() {
    let (config, room) = parsed("--network local").resolve().unwrap();
    assert_eq!(room.content_topic, "/toy-chat/2/huilong/proto");
    assert_eq!(config.shards.len(), 1);
    let shard = config.shards[0];
    assert_eq!(room.pubsub_topic.to_string(), shard.to_string());
    assert!(config.rest.is_none() && config.metrics.is_none());
    assert_eq!((config.tcp_port, config.log.level), (0, Level::WARN));
    assert!(room.key.is_none());
}

#[test]
fn a_room_has_a_topic_of_the_toy_chat() {
    let (_, room) = parsed("--room garden").resolve().unwrap();
    assert_eq!(room.content_topic, "/toy-chat/2/garden/proto");
    let (_, room) = parsed("--content-topic /my-app/1/talk/proto")
        .resolve()
        .unwrap();
    assert_eq!(room.content_topic, "/my-app/1/talk/proto");
    assert!(parsed("--content-topic talk").resolve().is_err());
    assert!(parsed("--room a/b").resolve().is_err());
}

#[test]
fn flags_of_the_node_are_the_nodes() {
    let args = parsed("--tcp-port 60000 --log-level debug --rln=false --cluster-id 7");
    let (config, room) = args.resolve().unwrap();
    assert_eq!((config.tcp_port, config.log.level), (60000, Level::DEBUG));
    assert!(config.rln.is_none());
    assert!(room.pubsub_topic.to_string().starts_with("/waku/2/rs/7/"));
}

#[test]
fn keys_are_read_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let read = |kind: &str, text: &str| {
        fs::write(&path, text).unwrap();
        let args = parsed(&format!("--{kind} {}", path.display()));
        args.resolve().ok().and_then(|(_, room)| room.key)
    };
    let key = Some(SymmetricKey::from_bytes([0xab; 32]));
    let digits = "ab".repeat(32);
    assert_eq!(read("key", &format!("{digits}\r\nmore\n")), key);
    assert_eq!(read("key", &format!("0x{digits}")), key);
    for bad in ["", "ab", &"zz".repeat(32), &"ab".repeat(4000)] {
        assert_eq!(read("key", bad), None, "{bad}");
    }
    let key = Some(SymmetricKey::from_passphrase(b"correct horse"));
    assert_eq!(read("passphrase-file", "correct horse\n"), key);
    assert_eq!(read("passphrase-file", "\n"), None);
}

#[test]
fn a_nick_is_what_others_will_see() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let nick = |args: Args, rng: &mut _| args.own_nick(rng).ok();
    assert_eq!(
        nick(parsed("--nick alice"), &mut rng),
        Some("alice".to_owned())
    );
    assert_eq!(nick(parsed("--nick <alice>"), &mut rng), None);
    assert_eq!(
        nick(parsed(&format!("--nick {}", "x".repeat(33))), &mut rng),
        None
    );
    let guest = nick(parsed(""), &mut rng).unwrap();
    assert_eq!((guest.len(), guest.starts_with("guest-")), (10, true));
}

#[test]
fn a_light_chat_neither_relays_nor_serves() {
    let (config, _) = parsed("--rln=false").resolve().unwrap();
    assert!(config.relay && config.services.filter && config.services.lightpush);
    let (config, _) = parsed("--light --store=true").resolve().unwrap();
    let services = &config.services;
    assert!(!config.relay && !services.filter && !services.lightpush);
    assert!(services.store.is_none());
}
