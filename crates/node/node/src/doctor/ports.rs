//! Checks of the ports that the node listens on.

use std::net::{SocketAddr, TcpListener, UdpSocket};

use super::diagnosis::{CheckOutcome, Diagnosis};
use crate::config::NodeConfig;

#[derive(Clone, Copy, PartialEq, Eq)]
enum PortKind {
    Tcp,
    Udp,
}

/// Tries to listen on every configured port.
pub(super) fn examine(config: &NodeConfig) -> Vec<Diagnosis> {
    let discovery = config.discovery.as_ref();
    let listening = [
        ("tcp-port", Some(config.tcp_port), PortKind::Tcp),
        ("ws-port", config.websocket_port, PortKind::Tcp),
        ("quic-port", config.quic_port, PortKind::Udp),
        (
            "discv5-udp-port",
            discovery.and_then(|found| found.udp_port),
            PortKind::Udp,
        ),
    ];
    let mut ports = Vec::new();
    for (key, port, transport) in listening {
        let addresses = config.listen_addresses.iter().zip(port.into_iter().cycle());
        ports.extend(addresses.map(|(ip, port)| (key, SocketAddr::new(*ip, port), transport)));
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
    tried.collect()
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
