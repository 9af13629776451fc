//! Checks of the data folder and of the number of files that the process may open.

use std::io::Write as _;

use super::diagnosis::{CheckOutcome, Diagnosis};
use crate::config::NodeConfig;
use undertone_network::swarm::RENEWAL;

/// Free space below which a node may soon stop, bytes.
const FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;

/// Free space below which a store may soon stop, bytes.
const FREE_BYTES_STORE: u64 = 4 * 1024 * 1024 * 1024;

/// Files that a node needs besides connections.
const OTHER_FILES: u64 = 128;

pub(super) fn examine(config: &NodeConfig) -> Vec<Diagnosis> {
    let mut findings = vec![folder(config), named(config)];
    findings.extend(certificate(config));
    findings.extend(space(config));
    findings.push(files(config));
    findings
}

/// Checks that the files named in the configuration exist and are usable.
fn named(config: &NodeConfig) -> Diagnosis {
    match crate::assemble::check(config) {
        Ok(()) => Diagnosis::good("files", "those that the configuration names can be read"),
        Err(error) => Diagnosis::other(
            "files",
            CheckOutcome::Bad,
            error.to_string(),
            "the node does not start before this is mended",
        ),
    }
}

/// Checks that the certificate does not expire soon; an unreadable one is reported by [`named`].
fn certificate(config: &NodeConfig) -> Option<Diagnosis> {
    let read = config.websocket_certificate.as_ref()?.read().ok()?;
    let subject = "websocket-secure-cert-path";
    let says = match read.remaining() {
        Some(left) if left > RENEWAL => {
            let days = left.as_secs() / 86_400;
            return Some(Diagnosis::good(subject, format!("valid for {days} days")));
        }
        Some(left) => format!("valid for {} days only", left.as_secs() / 86_400),
        None => "expired: browsers refuse it".to_owned(),
    };
    let remedy = "renew it; a running node takes the new one by itself";
    Some(Diagnosis::other(
        subject,
        CheckOutcome::Warning,
        says,
        remedy,
    ))
}

/// Checks that a file can be written to the data folder.
fn folder(config: &NodeConfig) -> Diagnosis {
    let folder = &config.data_dir;
    let shown = folder.display();
    let is_new = !folder.exists();
    let path = folder.join(".doctor");
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = std::fs::File::create(&path)?;
        file.write_all(b"a file of undertone doctor, which may be removed\n")?;
        file.sync_all()?;
        drop(file);
        std::fs::remove_file(&path)
    };
    let written = write();
    if is_new {
        // Removes the folder if it was created for this check only; one that contains files by now stays.
        let _ = std::fs::remove_dir(folder);
    }
    match written {
        Ok(()) => Diagnosis::good("data-dir", format!("{shown} can be written")),
        Err(error) => Diagnosis::other(
            "data-dir",
            CheckOutcome::Bad,
            format!("{shown} cannot be written: {error}"),
            "check its owner and permissions, or choose another with --data-dir",
        ),
    }
}

/// Checks that there is enough space for the node's files.
fn space(config: &NodeConfig) -> Option<Diagnosis> {
    // The folder may not exist yet; an existing parent then tells the free space.
    let mut folder = config.data_dir.as_path();
    while !folder.exists() {
        folder = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => std::path::Path::new("."),
        };
    }
    let found = rustix::fs::statvfs(folder).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let wanted = match config.services.store {
        Some(_) => FREE_BYTES_STORE,
        None => FREE_BYTES_MIN,
    };
    let (free_mib, wanted_mib) = (free >> 20, wanted >> 20);
    let says = format!("{free_mib} MiB are free at {}", folder.display());
    Some(match free >= wanted {
        true => Diagnosis::good("disk", says),
        false => Diagnosis::other(
            "disk",
            CheckOutcome::Warning,
            says,
            format!(
                "a node of this configuration should have {wanted_mib} MiB; free some, or choose another --data-dir"
            ),
        ),
    })
}

/// Checks that the process may open a file for each connection allowed.
fn files(config: &NodeConfig) -> Diagnosis {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limits = &config.connections;
    let wanted = u64::from(limits.total_max)
        + u64::from(limits.clients_max)
        + u64::from(limits.pending_max)
        + OTHER_FILES;
    match limit {
        Some(limit) if limit < wanted => Diagnosis::other(
            "open files",
            CheckOutcome::Warning,
            format!("the process may open {limit} files, and wants {wanted}"),
            format!(
                "raise the limit (ulimit -n {wanted}, or LimitNOFILE= of the service), or lower max-connections"
            ),
        ),
        Some(limit) => Diagnosis::good("open files", format!("{limit} may be opened")),
        None => Diagnosis::good("open files", "any number may be opened"),
    }
}
