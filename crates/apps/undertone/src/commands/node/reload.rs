//! Reloads the configuration while the node runs (SIGHUP).

use std::collections::BTreeSet;

use undertone_message::{PubsubTopic, Shard};
use undertone_node::assemble::Assembled;
use undertone_node::config::{ConfigValues, NodeConfig};
use undertone_node::logging;

use super::Args;
use crate::commands::Failure;

/// Keys that take effect in a running node. All others need a restart.
const LIVE_KEYS: [&str; 3] = ["log-level", "shards", "static-peers"];

/// Configuration of a running node, and the sources to reload it from.
pub(super) struct Reloader<'a> {
    args: &'a Args,
    values: ConfigValues,
    shards: BTreeSet<Shard>,
}

impl<'a> Reloader<'a> {
    /// Records the configuration that a node starts with.
    pub(super) fn new(args: &'a Args, config: &NodeConfig) -> Result<Self, Failure> {
        let values = ConfigValues::read(&args.sources());
        Ok(Self {
            args,
            values: values.map_err(|error| Failure::usage(error.to_string()))?,
            shards: config.shards.iter().copied().collect(),
        })
    }

    /// Reloads the configuration and applies the keys that can change in the running node. An invalid configuration
    /// changes nothing.
    pub(super) async fn reload(&mut self, node: &Assembled) {
        let read = self.args.load().and_then(|config| {
            let values = ConfigValues::read(&self.args.sources());
            let values = values.map_err(|error| Failure::usage(error.to_string()))?;
            Ok((config, values))
        });
        let (config, values) = match read {
            Ok(read) => read,
            Err(failure) => {
                let error = failure.into_message();
                tracing::error!(
                    "SIGHUP: the configuration is not reloaded, the node goes on with the former one: {error}"
                );
                return;
            }
        };
        let changed = values.changed_since(&self.values);
        let (live, later): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|key| LIVE_KEYS.contains(key));
        for key in &live {
            match *key {
                "log-level" => set_log_level(&config),
                "static-peers" => {
                    let peers = config.static_peers.clone();
                    if node.node.handle.set_static_peers(peers).await.is_err() {
                        return; // The node has stopped.
                    }
                }
                _ => self.change_shards(&config, node).await,
            }
        }
        if node.node.handle.renew_certificate().await.is_err() {
            return; // The node has stopped.
        }
        self.values = values;
        let listed = match live.is_empty() {
            true => "nothing".to_owned(),
            false => live.join(", "),
        };
        tracing::info!("SIGHUP: the configuration was read again; changed: {listed}");
        if !later.is_empty() {
            let later = later.join(", ");
            tracing::warn!("SIGHUP: restart the node to change: {later}");
        }
    }

    /// Joins and leaves shards, as REST's subscriptions do.
    async fn change_shards(&mut self, config: &NodeConfig, node: &Assembled) {
        let wanted: BTreeSet<Shard> = config.shards.iter().copied().collect();
        let handle = &node.node.handle;
        for shard in wanted.difference(&self.shards) {
            if let Err(error) = handle.subscribe(PubsubTopic::Static(*shard)).await {
                tracing::error!(
                    "SIGHUP: cannot join {}: {error}",
                    PubsubTopic::Static(*shard)
                );
            }
        }
        for shard in self.shards.difference(&wanted) {
            if let Err(error) = handle.unsubscribe(PubsubTopic::Static(*shard)).await {
                tracing::error!(
                    "SIGHUP: cannot leave {}: {error}",
                    PubsubTopic::Static(*shard)
                );
            }
        }
        self.shards = wanted;
    }
}

fn set_log_level(config: &NodeConfig) {
    if std::env::var_os(logging::VARIABLE).is_some() {
        let variable = logging::VARIABLE;
        tracing::warn!("SIGHUP: log-level is not changed, because {variable} is set and decides");
    } else {
        // Logging was set up by this command, so this cannot fail.
        let _ = logging::set_level(config.log.level);
    }
}
