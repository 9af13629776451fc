//! Checks of a machine before a node starts on it: ports, disk, clock, files, peers, lists in DNS.
//!
//! Nothing is changed, except that a file is written and removed again. The node must be stopped meanwhile, because
//! a running node holds its ports.

use crate::config::NodeConfig;

mod clock;
mod diagnosis;
mod disk;
mod network;
mod ports;

#[cfg(test)]
#[path = "tests/doctor.rs"]
mod tests;

pub use clock::NtpServer;
pub use diagnosis::{CheckOutcome, Diagnosis};

/// Examines the machine for a node with this configuration; checks that wait for the network run concurrently.
pub async fn examine(config: &NodeConfig, ntp: Option<NtpServer>) -> Vec<Diagnosis> {
    let mut findings = disk::examine(config);
    findings.extend(config.services.warning().map(|warning| Diagnosis {
        verdict: CheckOutcome::Warning,
        ..Diagnosis::good("services", warning)
    }));
    findings.extend(ports::examine(config));
    let (clock, peers, lists, records) = tokio::join!(
        clock::examine(ntp),
        network::peers(config),
        network::lists(config),
        network::records(config),
    );
    findings.push(clock);
    findings.extend(network::families(config));
    findings.extend(peers);
    findings.extend(lists);
    findings.extend(records);
    findings
}
