//! WebSocket whose certificate can be replaced while it listens.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{AsyncRead, AsyncWrite};
use libp2p::core::transport::{DialOpts, ListenerId, TransportError, TransportEvent};
use libp2p::{Multiaddr, Transport, websocket};

use super::certificate::RenewedCertificate;

/// WebSocket transport that takes a new certificate before the next connection. Existing connections continue.
pub(super) struct RenewableTls<T>
where
    T: Transport,
    T::Output: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    inner: websocket::Config<T>,
    renewed: RenewedCertificate,
}

impl<T> RenewableTls<T>
where
    T: Transport<Error: Send, Dial: Send, ListenerUpgrade: Send> + Send + Unpin + 'static,
    T::Output: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(mut inner: websocket::Config<T>, renewed: RenewedCertificate) -> Self {
        // The transport must have its TLS configuration when it is told to listen.
        if let Some(config) = renewed.take() {
            inner.set_tls_config(config);
        }
        Self { inner, renewed }
    }
}

impl<T> Transport for RenewableTls<T>
where
    T: Transport<Error: Send, Dial: Send, ListenerUpgrade: Send> + Send + Unpin + 'static,
    T::Output: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    type Output = <websocket::Config<T> as Transport>::Output;
    type Error = <websocket::Config<T> as Transport>::Error;
    type ListenerUpgrade = <websocket::Config<T> as Transport>::ListenerUpgrade;
    type Dial = <websocket::Config<T> as Transport>::Dial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<Self::Error>> {
        self.inner.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.inner.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        self.inner.dial(address, options)
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        if let Some(config) = self.renewed.take() {
            self.inner.set_tls_config(config);
        }
        Pin::new(&mut self.inner).poll(cx)
    }
}
