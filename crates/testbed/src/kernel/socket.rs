//! Sockets with a chosen congestion control. It must be set before the connection is made: one that
//! begins under BBR keeps its pacing even if it is changed later.

use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, ipproto, listen, sockopt,
};

use super::Case;
use crate::Congestion;

pub(super) fn listening(at: SocketAddrV4, case: &Case) -> io::Result<TcpListener> {
    let socket = under(case.congestion)?;
    bind(&socket, &at)?;
    listen(&socket, 1)?;
    Ok(socket.into())
}

pub(super) fn connected(to: SocketAddrV4, case: &Case) -> io::Result<TcpStream> {
    let socket = under(case.congestion)?;
    if let Some(bytes) = case.send_buffer_bytes {
        sockopt::set_socket_send_buffer_size(&socket, bytes)?;
    }
    connect(&socket, &to)?;
    Ok(socket.into())
}

fn under(congestion: Congestion) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let protocol = Some(ipproto::TCP);
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, protocol)?;
    sockopt::set_tcp_congestion(&socket, congestion.name())?;
    Ok(socket)
}
