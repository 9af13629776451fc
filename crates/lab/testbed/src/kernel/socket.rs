//! Sockets with a chosen congestion control. It must be set before the connection is made: a
//! connection that starts under BBR keeps its pacing even if the setting is changed later.

use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen, sockopt,
};

use crate::Congestion;

/// Listens at an address, for up to `backlog` connections that nobody has accepted yet.
pub(crate) fn listening(
    at: SocketAddrV4,
    congestion: Option<Congestion>,
    backlog: i32,
) -> io::Result<TcpListener> {
    let socket = under(congestion)?;
    bind(&socket, &at)?;
    listen(&socket, backlog)?;
    Ok(socket.into())
}

/// Connects to an address with a send buffer of this size; `None` lets the system tune it.
pub(crate) fn connected(
    to: SocketAddrV4,
    congestion: Option<Congestion>,
    send_buffer_bytes: Option<usize>,
) -> io::Result<TcpStream> {
    let socket = under(congestion)?;
    if let Some(bytes) = send_buffer_bytes {
        sockopt::set_socket_send_buffer_size(&socket, bytes)?;
    }
    connect(&socket, &to)?;
    Ok(socket.into())
}

fn under(congestion: Option<Congestion>) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let protocol = Some(ipproto::TCP);
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, protocol)?;
    if let Some(congestion) = congestion {
        sockopt::set_tcp_congestion(&socket, congestion.name())?;
    }
    Ok(socket)
}
