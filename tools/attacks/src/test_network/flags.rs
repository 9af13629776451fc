//! Flags with which the nodes of a network are started.

use std::path::{Path, PathBuf};

use libp2p::Multiaddr;

use super::StageOptions;
use crate::HostileError;
use crate::members::Members;
use crate::topics::CLUSTER;

/// Returns the flags of every honest node.
pub(super) fn common_flags(options: &StageOptions, members: Option<&Members>) -> Vec<String> {
    let mut flags = match members {
        Some(members) => members.flags(),
        None => vec!["--rln=false".to_owned()],
    };
    if options.own_registry || options.has_chain {
        flags.push("--rln-tokens=0".to_owned());
    }
    flags.extend(network(options));
    flags.push(shards(options.shards));
    flags
}

/// Returns the flags of the victim.
pub(super) fn victim_flags(
    options: &StageOptions,
    members: Option<&Members>,
    folder: &Path,
) -> Result<Vec<String>, HostileError> {
    let mut flags = match members {
        Some(members) if options.own_registry => {
            let registry = victims_registry(folder);
            members.copy_to(&registry)?;
            members.flags_with(&registry)
        }
        Some(_) if options.has_chain => vec![Members::limit_flag()],
        Some(members) => members.flags(),
        None => vec!["--rln=false".to_owned()],
    };
    flags.extend(network(options));
    flags.push(shards(options.shards + options.victims_shards));
    if options.services {
        flags.extend(["--store=true".to_owned(), "--store-sync=true".to_owned()]);
    }
    flags.extend(options.victims_flags.iter().map(ToString::to_string));
    Ok(flags)
}

/// Returns the path of the registry file of a victim with its own registry.
#[must_use]
pub fn victims_registry(folder: &Path) -> PathBuf {
    folder.join("registry-of-victim.sqlite")
}

/// Returns the flags of a network with or without autosharding, which only some presets have.
fn network(options: &StageOptions) -> [String; 2] {
    let preset = match options.has_automatic_sharding {
        true => "twn",
        false => "local",
    };
    [
        format!("--network={preset}"),
        format!("--cluster-id={CLUSTER}"),
    ]
}

/// Returns the flag that joins the first shards.
fn shards(count: u16) -> String {
    let shards = (0..count).map(|shard| shard.to_string());
    format!("--shards={}", shards.collect::<Vec<_>>().join(","))
}

/// Returns the flag that connects to these addresses, if there are any.
pub(crate) fn static_peers(addresses: impl IntoIterator<Item = Multiaddr>) -> Option<String> {
    let addresses = addresses.into_iter().map(|address| address.to_string());
    let addresses = addresses.collect::<Vec<_>>().join(",");
    (!addresses.is_empty()).then(|| format!("--static-peers={addresses}"))
}
