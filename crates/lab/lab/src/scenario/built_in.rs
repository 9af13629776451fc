//! Scenario files of the repository, compiled into the program so that they work in any folder.

/// A scenario that can be used by name, without its file.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Name of the scenario: its file name without the extension.
    pub name: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal,)*) => {
        &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../../../../scenarios/", $name, ".toml")),
        },)*]
    };
}

/// All built-in scenarios, in the order in which they are listed.
pub const BUILT_IN: &[BuiltIn] = built_in![
    "small",
    "paper-2kb",
    "paper-25kb",
    "paper-100kb",
    "paper-500kb",
    "paper-2kb-150ms",
    "paper-25kb-75ms",
    "paper-100kb-75ms",
    "paper-500kb-75ms",
    "paper-2kb-ten-publishers",
    "paper-25kb-ten-publishers",
    "paper-100kb-ten-publishers",
    "paper-500kb-ten-publishers",
    "hops",
    "cities-line",
    "testbed-line",
    "testbed-random",
    "churn",
    "strangers",
    "large-messages",
    "waku-v1",
    "waku-v2",
    "gossipsub-s1",
    "gossipsub-v12",
    "rln-100",
    "spam",
    "spam-unlimited",
    "silent",
    "anonymity",
    "anonymity-observers",
    "anonymity-eclipse",
    "attack-none",
    "attack-found-1",
    "attack-found-2",
    "attack-found-3",
    "attack-sybil",
    "attack-sybil-20",
    "attack-eclipse-node",
    "attack-eclipse-publishers",
    "attack-eclipse-shard",
    "attack-cold-boot",
    "attack-cold-boot-20",
    "attack-covert-flash",
    "attack-dawn",
    "attack-degrade",
    "attack-censor",
    "attack-slow",
    "attack-ihave-flood",
    "attack-iwant-flood",
    "attack-double-signals",
    "attack-clock-skew",
    "attack-racing-roots",
    "attack-nullifier-flood",
    "attack-light-hangs",
    "attack-light-lies",
    "attack-light-mute",
    "message-rate",
    "load",
    "partition",
    "clock-skew",
    "light-clients",
    "store-while-messages-arrive",
    "stores-synchronise",
    "clients-find-peers",
    "reliable-channel",
    "request-floods",
    "scale-10k",
    "scale-100k",
    "scale-1m",
    "shard-at-cap",
    "waku-network",
];
