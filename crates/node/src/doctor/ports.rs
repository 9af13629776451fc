//! Examination of the ports that the node listens on.

use std::net::{SocketAddr, TcpListener, UdpSocket};

use super::diagnosis::{CheckOutcome, Diagnosis};
use crate::config::NodeConfig;

#[derive(Clone, Copy, PartialEq, Eq)]
enum PortKind {
    Tcp,
    Udp,
}

/// Tries to listen on every port of the configuration.
pub(super) fn examine(config: &NodeConfig) -> Vec<Diagnosis> {
    let at = |port| SocketAddr::new(config.listen_address, port);
    let mut ports = vec![("tcp-port", at(config.tcp_port), PortKind::Tcp)];
    if let Some(port) = config.websocket_port {
        ports.push(("ws-port", at(port), PortKind::Tcp));
    }
    if let Some(port) = config.quic_port {
        ports.push(("quic-port", at(port), PortKind::Udp));
    }
    if let Some(port) = config.discovery.as_ref().and_then(|found| found.udp_port) {
        ports.push(("discv5-udp-port", at(port), PortKind::Udp));
    }
    if let Some(rest) = &config.rest {
        ports.push(("rest-port", rest.address, PortKind::Tcp));
    }
    if let Some(address) = config.metrics {
        ports.push(("metrics-server-port", address, PortKind::Tcp));
    }
    let tried = ports
        .iter()
        .map(|(key, address, transport)| one(key, *address, *transport));
    let mut findings: Vec<_> = tried.collect();
    findings.extend(twice(&ports));
    findings
}

fn one(key: &str, address: SocketAddr, transport: PortKind) -> Diagnosis {
    let (name, tried) = match transport {
        PortKind::Tcp => ("TCP", TcpListener::bind(address).map(drop)),
        PortKind::Udp => ("UDP", UdpSocket::bind(address).map(drop)),
    };
    match tried {
        Ok(()) => Diagnosis::good(key, format!("{name} {address} is free")),
        Err(error) => {
            let remedy = match error.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    "choose a port above 1023, or give the program CAP_NET_BIND_SERVICE".to_owned()
                }
                std::io::ErrorKind::AddrNotAvailable => {
                    "this machine has no such address; choose one that it has".to_owned()
                }
                _ => format!(
                    "stop the program that listens there (a node that runs?), or choose another {key}"
                ),
            };
            let says = format!("cannot listen on {name} {address}: {error}");
            Diagnosis::other(key, CheckOutcome::Bad, says, remedy)
        }
    }
}

/// Ports that two keys of the configuration share.
fn twice(ports: &[(&'static str, SocketAddr, PortKind)]) -> Vec<Diagnosis> {
    let mut findings = Vec::new();
    for (index, (key, address, transport)) in ports.iter().enumerate() {
        for (other, elsewhere, over) in ports.iter().skip(index + 1) {
            let is_same_ip = address.ip() == elsewhere.ip()
                || address.ip().is_unspecified()
                || elsewhere.ip().is_unspecified();
            let is_same = address.port() == elsewhere.port() && transport == over;
            if is_same && is_same_ip && address.port() != 0 {
                findings.push(Diagnosis::other(
                    *other,
                    CheckOutcome::Bad,
                    format!("{key} and {other} are both {}", address.port()),
                    "give each a port of its own",
                ));
            }
        }
    }
    findings
}
