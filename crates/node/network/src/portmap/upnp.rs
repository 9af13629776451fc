//! UPnP (Internet Gateway Device): a router is discovered by multicast, described in XML, and controlled by SOAP over
//! HTTP.
//!
//! Anyone in the local network can answer a search. So answers are bounded in number, size and time, and only the host
//! that answered is asked. The XML is searched for the few texts needed instead of being parsed.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use hyper::header::CONTENT_TYPE;
use hyper::http::uri::{PathAndQuery, Scheme};
use hyper::{Request, Uri};
use thiserror::Error;
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout, timeout_at};

use super::http::{self, HttpError};
use super::{LocalPort, PortKind};

/// Time for routers to answer a search.
const SEARCH: Duration = Duration::from_secs(3);

/// Time for one request to the router.
const ANSWER: Duration = Duration::from_secs(5);

/// Maximum number of answers to a search that are considered.
const ANSWERS_MAX: usize = 16;

/// Maximum length of an answer to a search, bytes; the rest is cut off.
const ANSWER_BYTES: usize = 2048;

/// Device types that are searched for.
const ROUTERS: [&str; 2] = [
    "urn:schemas-upnp-org:device:InternetGatewayDevice:1",
    "urn:schemas-upnp-org:device:InternetGatewayDevice:2",
];

/// Service types that open ports.
const SERVICES: [&str; 3] = [
    "urn:schemas-upnp-org:service:WANIPConnection:1",
    "urn:schemas-upnp-org:service:WANIPConnection:2",
    "urn:schemas-upnp-org:service:WANPPPConnection:1",
];

/// Name under which the router lists the node's ports.
const NAME: &str = "undertone";

/// Error code: another host has the port.
const CONFLICT: u16 = 718;

/// Error code: the router supports only mappings without expiry.
const ONLY_PERMANENT: u16 = 725;

/// Reason why a request failed.
#[derive(Debug, Error)]
pub(crate) enum UpnpError {
    #[error("socket: {0}")]
    Socket(#[from] std::io::Error),
    #[error("no router answers to UPnP")]
    Silent,
    #[error("the router does not answer in time")]
    TimedOut,
    #[error("the router's answer: {0}")]
    Http(#[from] HttpError),
    #[error("the router's answer lacks {0}")]
    Lacks(&'static str),
    #[error("another host has the port")]
    Conflict,
    #[error("the router refuses, with UPnP code {0}")]
    Refused(u16),
}

/// A router that can open ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gateway {
    at: SocketAddr,
    /// Path of the service that opens ports.
    path: PathAndQuery,
    /// Type of that service.
    service: &'static str,
    /// This host's address, as the router sees it.
    own: IpAddr,
}

/// Searches for a router; `ssdp` is the address that routers listen on.
pub(super) async fn search(ssdp: SocketAddr) -> Result<Gateway, UpnpError> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    for router in ROUTERS {
        let question = format!(
            "M-SEARCH * HTTP/1.1\r\nHOST: {ssdp}\r\nST: {router}\r\nMAN: \"ssdp:discover\"\r\nMX: 2\r\n\r\n"
        );
        socket.send_to(question.as_bytes(), ssdp).await?;
    }
    let end = Instant::now() + SEARCH;
    let mut failure = UpnpError::Silent;
    let mut asked = Vec::new();
    for _ in 0..ANSWERS_MAX {
        let mut buffer = [0; ANSWER_BYTES];
        let Ok(received) = timeout_at(end, socket.recv_from(&mut buffer)).await else {
            break;
        };
        let (len, from) = received?;
        let text = String::from_utf8_lossy(buffer.get(..len).unwrap_or_default());
        // A router answers once per device type. A description on another host than the one that answered is ignored.
        let Some(location) = location(&text).filter(|location| location.0.ip() == from.ip()) else {
            continue;
        };
        if asked.contains(&location) {
            continue;
        }
        match describe(location.0, location.1.clone()).await {
            Ok(gateway) => return Ok(gateway),
            Err(error) => failure = error,
        }
        asked.push(location);
    }
    Err(failure)
}

/// Returns the address and path of a router's description, from its answer to a search.
fn location(answer: &str) -> Option<(SocketAddr, PathAndQuery)> {
    let mut lines = answer.lines();
    let url = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case("location")
            .then_some(value.trim())
    })?;
    address_and_path(url)
}

/// Splits a URL whose host is an IP address into address and path.
fn address_and_path(url: &str) -> Option<(SocketAddr, PathAndQuery)> {
    let url = url.parse::<Uri>().ok()?.into_parts();
    let host = url.authority.filter(|_| url.scheme == Some(Scheme::HTTP))?;
    let with_port = || Some(SocketAddr::new(host.as_str().parse().ok()?, 80));
    let at = host.as_str().parse().ok().or_else(with_port)?;
    Some((at, url.path_and_query?))
}

/// Reads the description at `path` and finds the service that opens ports.
async fn describe(at: SocketAddr, path: PathAndQuery) -> Result<Gateway, UpnpError> {
    let answer = in_time(http::ask(at, Request::get(path), String::new())).await?;
    let (service, path) = service(&answer.body).ok_or(UpnpError::Lacks("a service for ports"))?;
    let own = own_address(at).await?;
    Ok(Gateway {
        at,
        path,
        service,
        own,
    })
}

/// Returns the service that opens ports, and the path to call it at.
fn service(description: &str) -> Option<(&'static str, PathAndQuery)> {
    let blocks = description.split("<service>").skip(1);
    let mut known = blocks.filter_map(|block| {
        let block = block.split("</service>").next()?;
        let kind = text_of(block, "serviceType")?;
        let kind = SERVICES.into_iter().find(|known| *known == kind)?;
        let url = text_of(block, "controlURL")?;
        // An absolute URL may name another host; only the one that answered is asked.
        let path = match url.starts_with("http://") {
            true => address_and_path(url)?.1,
            false => {
                let rooted = format!("/{}", url.trim_start_matches('/'));
                rooted.parse::<Uri>().ok()?.into_parts().path_and_query?
            }
        };
        Some((kind, path))
    });
    known.next()
}

/// Returns the text of the first element with this name.
fn text_of<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = after.split_once("</")?;
    Some(text.trim())
}

/// Returns this host's address on the route to the router; nothing is sent.
async fn own_address(router: SocketAddr) -> Result<IpAddr, UpnpError> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    socket.connect(router).await?;
    Ok(socket.local_addr()?.ip())
}

async fn in_time<T>(asking: impl Future<Output = Result<T, HttpError>>) -> Result<T, UpnpError> {
    let answer = timeout(ANSWER, asking).await;
    Ok(answer.map_err(|_| UpnpError::TimedOut)??)
}

impl Gateway {
    /// Asks for the router's public address.
    pub(super) async fn public_address(&self) -> Result<IpAddr, UpnpError> {
        let answer = self.call("GetExternalIPAddress", "").await?;
        let ip = text_of(&answer, "NewExternalIPAddress").and_then(|ip| ip.parse().ok());
        ip.ok_or(UpnpError::Lacks("its public address"))
    }

    /// Opens the port with the number `external`; returns how long it stays open, `None` for a router that keeps it
    /// until it is closed.
    pub(super) async fn open(
        &self,
        port: LocalPort,
        external: u16,
        lease: Duration,
    ) -> Result<Option<Duration>, UpnpError> {
        match self.add(port, external, lease.as_secs()).await {
            Ok(()) => Ok(Some(lease)),
            Err(UpnpError::Refused(CONFLICT)) => Err(UpnpError::Conflict),
            // Without expiry: the node closes the port when it stops.
            Err(UpnpError::Refused(ONLY_PERMANENT)) => {
                self.add(port, external, 0).await?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn add(&self, port: LocalPort, external: u16, lease_s: u64) -> Result<(), UpnpError> {
        let (kind, own, number) = (kind(port.kind), self.own, port.number);
        let arguments = format!(
            "<NewRemoteHost></NewRemoteHost><NewExternalPort>{external}</NewExternalPort>\
             <NewProtocol>{kind}</NewProtocol><NewInternalPort>{number}</NewInternalPort>\
             <NewInternalClient>{own}</NewInternalClient><NewEnabled>1</NewEnabled>\
             <NewPortMappingDescription>{NAME}</NewPortMappingDescription>\
             <NewLeaseDuration>{lease_s}</NewLeaseDuration>"
        );
        self.call("AddPortMapping", &arguments).await.map(drop)
    }

    /// Closes a port that was opened with the number `external`.
    pub(super) async fn close(&self, kind_of: PortKind, external: u16) -> Result<(), UpnpError> {
        let kind = kind(kind_of);
        let arguments = format!(
            "<NewRemoteHost></NewRemoteHost><NewExternalPort>{external}</NewExternalPort>\
             <NewProtocol>{kind}</NewProtocol>"
        );
        self.call("DeletePortMapping", &arguments).await.map(drop)
    }

    async fn call(&self, action: &str, arguments: &str) -> Result<String, UpnpError> {
        let service = self.service;
        let body = format!(
            "<?xml version=\"1.0\"?>\r\n\
             <s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" \
             s:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"><s:Body>\
             <u:{action} xmlns:u=\"{service}\">{arguments}</u:{action}></s:Body></s:Envelope>"
        );
        let request = Request::post(self.path.clone())
            .header(CONTENT_TYPE, "text/xml; charset=\"utf-8\"")
            .header("SOAPAction", format!("\"{service}#{action}\""));
        let answer = in_time(http::ask(self.at, request, body)).await?;
        if answer.status == 200 {
            return Ok(answer.body);
        }
        let code = text_of(&answer.body, "errorCode").and_then(|code| code.parse().ok());
        Err(UpnpError::Refused(code.unwrap_or(answer.status)))
    }
}

fn kind(port: PortKind) -> &'static str {
    match port {
        PortKind::Tcp => "TCP",
        PortKind::Udp => "UDP",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_where_the_answer_says_if_that_is_an_address() {
        let answer = "HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nLocation: http://192.168.1.1:5000/root.xml\r\n\r\n";
        let path = PathAndQuery::from_static("/root.xml");
        let expected = ("192.168.1.1:5000".parse().unwrap(), path);
        assert_eq!(location(answer), Some(expected));
        let none = [
            "HTTP/1.1 200 OK\r\n\r\n",
            "LOCATION: https://192.168.1.1/x",
            "LOCATION: http://router.local/x",
            "LOCATION: http://192.168.1.1/a b",
            "LOCATION: http://192.168.1.1:99999/x",
        ];
        for answer in none {
            assert_eq!(location(answer), None, "{answer}");
        }
        let (at, path) = address_and_path("http://10.0.0.1").unwrap();
        assert_eq!((at, path.as_str()), ("10.0.0.1:80".parse().unwrap(), "/"));
    }

    #[test]
    fn the_service_is_found_among_others_and_asked_at_a_path() {
        let of = |kind: &str, url: &str| {
            format!(
                "<service><serviceType>{kind}</serviceType><SCPDURL>/s</SCPDURL><controlURL>{url}</controlURL></service>"
            )
        };
        let other = of("urn:schemas-upnp-org:service:Layer3Forwarding:1", "/L3F");
        for (url, path) in [
            ("/ctl/IPConn", "/ctl/IPConn"),
            ("ctl", "/ctl"),
            ("http://192.168.1.1:80/x", "/x"),
        ] {
            let xml = format!("<root>{other}{}</root>", of(SERVICES[1], url));
            let expected = (SERVICES[1], PathAndQuery::from_static(path));
            assert_eq!(service(&xml), Some(expected));
        }
        assert_eq!(service(&other), None);
        for url in ["/a\r\nX: y".to_owned(), "/a".repeat(40_000)] {
            assert_eq!(service(&of(SERVICES[0], &url)), None);
        }
        // Depth is nothing to a search for texts.
        assert_eq!(service(&"<service>".repeat(100_000)), None);
    }
}
