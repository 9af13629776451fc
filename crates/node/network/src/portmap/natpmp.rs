//! NAT-PMP (RFC 6886): requests of a few bytes to the router, each repeated until there is an answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use thiserror::Error;
use tokio::net::UdpSocket;

use super::{LocalPort, PortKind};

/// Time before the first repetition; doubled with each one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Number of times that a request is sent. A router that stays silent for four seconds does not support NAT-PMP.
const ATTEMPTS: u32 = 4;

/// Maximum length of an answer, bytes.
const ANSWER_BYTES: usize = 16;

/// Code of the request for the router's public address.
const PUBLIC_ADDRESS: u8 = 0;

/// Added to a request's code in its answer.
const IS_ANSWER: u8 = 128;

/// Reason why a request failed.
#[derive(Debug, Error)]
pub(crate) enum NatPmpError {
    #[error(transparent)]
    Socket(#[from] io::Error),
    #[error("the router does not answer to NAT-PMP")]
    Silent,
    #[error("the router's answer is not one of NAT-PMP")]
    Malformed,
    #[error("the router refuses, with code {0}")]
    Refused(u16),
}

/// A port that the router has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenedPort {
    pub(super) external: u16,
    pub(super) lasts: Duration,
}

/// Asks for the router's public address.
pub(super) async fn public_address(router: SocketAddr) -> Result<Ipv4Addr, NatPmpError> {
    let answer = ask(router, &[0, PUBLIC_ADDRESS]).await?;
    match answer.as_slice() {
        [.., a, b, c, d] if answer.len() == 4 => Ok(Ipv4Addr::new(*a, *b, *c, *d)),
        _ => Err(NatPmpError::Malformed),
    }
}

/// Asks the router to open a port, preferably with the number `external`.
pub(super) async fn open(
    router: SocketAddr,
    port: LocalPort,
    external: u16,
    lease: Duration,
) -> Result<OpenedPort, NatPmpError> {
    let lease_s = u32::try_from(lease.as_secs()).unwrap_or(u32::MAX);
    let answer = ask(router, &map_request(port, external, lease_s)).await?;
    opened(&answer, port)
}

/// Asks the router to close a port.
pub(super) async fn close(router: SocketAddr, port: LocalPort) -> Result<(), NatPmpError> {
    ask(router, &map_request(port, 0, 0)).await.map(drop)
}

fn map_request(port: LocalPort, external: u16, lease_s: u32) -> Vec<u8> {
    let code = match port.kind {
        PortKind::Udp => 1,
        PortKind::Tcp => 2,
    };
    let mut request = vec![0, code, 0, 0];
    request.extend(port.number.to_be_bytes());
    request.extend(external.to_be_bytes());
    request.extend(lease_s.to_be_bytes());
    request
}

fn opened(answer: &[u8], port: LocalPort) -> Result<OpenedPort, NatPmpError> {
    let [i0, i1, e0, e1, l0, l1, l2, l3] = answer else {
        return Err(NatPmpError::Malformed);
    };
    let external = u16::from_be_bytes([*e0, *e1]);
    if u16::from_be_bytes([*i0, *i1]) != port.number || external == 0 {
        return Err(NatPmpError::Malformed);
    }
    let lasts = Duration::from_secs(u32::from_be_bytes([*l0, *l1, *l2, *l3]).into());
    Ok(OpenedPort { external, lasts })
}

/// Sends a request until the router answers; returns the answer without its header.
async fn ask(router: SocketAddr, request: &[u8]) -> Result<Vec<u8>, NatPmpError> {
    let own = match router {
        SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0; 16], 0)),
    };
    let socket = UdpSocket::bind(own).await?;
    // Only the router's own answers reach a connected socket.
    socket.connect(router).await?;
    let mut wait = FIRST_WAIT;
    for _ in 0..ATTEMPTS {
        socket.send(request).await?;
        let mut buffer = [0; ANSWER_BYTES];
        if let Ok(received) = tokio::time::timeout(wait, socket.recv(&mut buffer)).await {
            let len = received?;
            return body(request, buffer.get(..len).unwrap_or_default());
        }
        wait *= 2;
    }
    Err(NatPmpError::Silent)
}

/// Returns the content of an answer, without the header: version, code, result and the router's uptime.
fn body(request: &[u8], answer: &[u8]) -> Result<Vec<u8>, NatPmpError> {
    let (Some(asked), [version, code, r0, r1, rest @ ..]) = (request.get(1), answer) else {
        return Err(NatPmpError::Malformed);
    };
    // A router that supports only the successor of NAT-PMP answers with its own version.
    if *version != 0 {
        return Err(NatPmpError::Malformed);
    }
    match u16::from_be_bytes([*r0, *r1]) {
        0 if *code == asked.wrapping_add(IS_ANSWER) => {
            Ok(rest.get(4..).ok_or(NatPmpError::Malformed)?.to_vec())
        }
        0 => Err(NatPmpError::Malformed),
        refusal => Err(NatPmpError::Refused(refusal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: LocalPort = LocalPort {
        kind: PortKind::Tcp,
        number: 60_000,
    };

    /// Request and answer of section 3.3 of the RFC, for TCP port 60000 and an hour.
    #[test]
    fn a_request_and_its_answer_have_the_bytes_of_the_rfc() {
        let request = map_request(PORT, 60_000, 3_600);
        assert_eq!(
            request,
            [0, 2, 0, 0, 0xea, 0x60, 0xea, 0x60, 0, 0, 0x0e, 0x10]
        );
        let answer = [
            0, 130, 0, 0, 0, 0, 1, 0, 0xea, 0x60, 0xea, 0x61, 0, 0, 0x0e, 0x10,
        ];
        let content = body(&request, &answer).expect("a valid answer");
        let expected = OpenedPort {
            external: 60_001,
            lasts: Duration::from_secs(3_600),
        };
        assert_eq!(opened(&content, PORT).expect("a valid answer"), expected);
    }

    #[test]
    fn answers_that_are_none_are_refused() {
        let request = map_request(PORT, 60_000, 3_600);
        let malformed: [&[u8]; 6] = [
            &[],
            &[0, 130, 0],
            &[0, 130, 0, 0, 1],
            // Of another request, of another version, and shorter than any code that is added to 128.
            &[0, 129, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[2, 130, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ];
        for answer in malformed {
            let refused = body(&request, answer);
            assert!(matches!(refused, Err(NatPmpError::Malformed)), "{answer:?}");
        }
        let refusal = body(&request, &[0, 130, 0, 2, 0, 0, 0, 0]);
        assert!(matches!(refusal, Err(NatPmpError::Refused(2))));
        // Another port than the one asked for, and no port at all.
        for answer in [[0, 1, 0, 1, 0, 0, 0, 1], [0xea, 0x60, 0, 0, 0, 0, 0, 1]] {
            assert!(matches!(opened(&answer, PORT), Err(NatPmpError::Malformed)));
        }
        assert!(matches!(opened(&[], PORT), Err(NatPmpError::Malformed)));
    }
}
