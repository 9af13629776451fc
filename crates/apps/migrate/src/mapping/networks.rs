//! Networks of the reference node: its presets, and defaults that differ from ours.

use super::Mapped;

/// A preset of the reference node for which we have no preset. Source: repository
/// logos-messaging/logos-delivery, `logos_delivery/waku/factory/networks_config.nim`, commit
/// 69fbffa3a0cfd862a2d04a4a0f57432063ecfba1.
struct ForeignNetwork {
    names: [&'static str; 2],
    cluster: &'static str,
    shards: &'static str,
    message_bytes: &'static str,
}

const FOREIGN: [ForeignNetwork; 3] = [
    ForeignNetwork {
        names: ["logos.dev", "logosdev"],
        cluster: "3",
        shards: "8",
        message_bytes: "153600",
    },
    ForeignNetwork {
        names: ["logos.test", "logostest"],
        cluster: "2",
        shards: "8",
        message_bytes: "153600",
    },
    ForeignNetwork {
        names: ["status.prod", "statusprod"],
        cluster: "16",
        shards: "1",
        message_bytes: "1048576",
    },
];

/// Parameters in which a preset of the reference node overrode flags up to 0.38.
const OVERRIDDEN: [&str; 4] = [
    "cluster-id",
    "num-shards-in-network",
    "max-message-bytes",
    "rln",
];

impl Mapped {
    /// Sets the network, by preset or cluster.
    pub(super) fn networks(&mut self) {
        let mut preset = self.secret("preset").map(str::to_ascii_lowercase);
        // Cluster 1, and from 0.38 on cluster 2, imply a preset even without --preset.
        let is_dev = self.is("cluster-id", "2") && self.releases.last >= 38;
        if preset.is_none() && is_dev {
            preset = Some("logos.dev".to_owned());
        }
        let is_twn =
            preset.as_deref() == Some("twn") || (preset.is_none() && self.is("cluster-id", "1"));
        if preset.is_some() || is_twn {
            self.set_default("discv5-discovery", "true");
        }
        if is_twn {
            for key in [
                "cluster-id",
                "num-shards-in-network",
                "rln-epoch-s",
                "rln-user-message-limit",
            ] {
                self.keys.remove(key);
            }
            self.set("network", "twn".to_owned());
            self.contract();
            return;
        }
        self.set("network", "local".to_owned());
        if let Some(preset) = preset {
            let known = FOREIGN
                .iter()
                .find(|known| known.names.contains(&preset.as_str()));
            if let Some(known) = known {
                // From 0.39 on, flags take precedence over the preset.
                let overrides = self.releases.last < 39;
                for key in OVERRIDDEN {
                    // Zero shards count as not set.
                    if overrides || (key == "num-shards-in-network" && self.is(key, "0")) {
                        self.keys.remove(key);
                    }
                }
                // logos.dev moved to another cluster with 0.39.
                let cluster = match overrides && known.names[0] == "logos.dev" {
                    true => "2",
                    false => known.cluster,
                };
                self.set_default("cluster-id", cluster);
                self.set_default("num-shards-in-network", known.shards);
                self.set_default("max-message-bytes", known.message_bytes);
                self.remarks.push(format!(
                    "preset {preset} is not built in: its cluster, shards and sizes are written out; name nodes to \
                     begin with in static-peers, discv5-bootstrap-node or dns-discovery-url"
                ));
            } else {
                self.remarks.push(format!(
                    "preset {preset:?} is unknown; the network has only what the flags say"
                ));
            }
        }
        self.set_default("cluster-id", "0");
        self.default_shards();
        self.set_default("max-message-bytes", "153600");
        self.set_default("rln", "false");
        if self.is("num-shards-in-network", "0") {
            if self.keys.remove("content-topics").is_some() {
                let why = "content-topics is left out: with static sharding no shard follows from a topic";
                self.remarks.push(why.to_owned());
            }
            if !self.keys.contains_key("shards") {
                let why = "no shard was named; here a node with static sharding then joins shard 0";
                self.remarks.push(why.to_owned());
            }
        }
        self.contract();
    }

    /// Completes the membership contract, or removes its keys if that is not possible.
    fn contract(&mut self) {
        const KEYS: [&str; 3] = ["rln-eth-rpc", "rln-eth-contract", "rln-eth-chain-id"];
        let is_off = self.is("rln", "false");
        if is_off {
            for key in KEYS
                .iter()
                .chain(&["rln-epoch-s", "rln-user-message-limit"])
            {
                self.keys.remove(key);
            }
            return;
        }
        let chain = self.built_in().and_then(|preset| preset.chain);
        if let Some(chain) = chain.filter(|_| self.keys.contains_key(KEYS[0])) {
            // The preset of the reference node overrides the flags.
            self.keys.insert(KEYS[1], vec![chain.contract.to_owned()]);
            self.keys.insert(KEYS[2], vec![chain.chain_id.to_string()]);
        }
        if !KEYS.iter().all(|key| self.keys.contains_key(key)) {
            let has_some = KEYS.iter().any(|key| self.keys.contains_key(key));
            for key in KEYS {
                self.keys.remove(key);
            }
            if has_some || self.is("rln", "true") || self.is("network", "twn") {
                self.remarks.push(
                    "the membership contract is incomplete: add rln-eth-rpc, rln-eth-contract and rln-eth-chain-id, \
                     without which the node has a registry of its own and accepts nobody's proofs".to_owned(),
                );
            }
        }
    }
}
