//! Examination of a machine before a node is started on it: ports, disk, clock, files, peers, lists in DNS.
//!
//! Nothing is changed but for a file that is written and removed again; a node that runs already holds its ports, so
//! it is examined while it is stopped.

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

/// Examines the machine for a node of this configuration; all examinations that wait for others run at a time.
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
