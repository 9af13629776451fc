//! The router, through one of its protocols.

use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

use super::natpmp::{self, NatPmpError};
use super::upnp::{self, Gateway, UpnpError};
use super::{LocalPort, MappingMethod, NATPMP_PORT, RouterSearch, default_route};

/// Reason why the router has opened no port.
#[derive(Debug, Error)]
pub(crate) enum RouterError {
    #[error("UPnP: {0}")]
    Upnp(#[from] UpnpError),
    #[error("NAT-PMP: {0}")]
    NatPmp(#[from] NatPmpError),
    #[error("NAT-PMP: the address of the router is not known on this system")]
    NoDefaultRoute,
}

impl RouterError {
    /// Whether another host has the port.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Upnp(UpnpError::Conflict))
    }
}

/// An open port and its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Public address and port that lead to the node.
    pub(super) at: SocketAddr,
    /// Time after which the router closes the port; `None` for a router that keeps it until told otherwise.
    pub(super) lasts: Option<Duration>,
}

/// The router, by the protocol that it supports.
#[derive(Clone, Debug)]
pub(super) enum Router {
    Upnp(Gateway),
    Pmp(SocketAddr),
}

impl Router {
    /// Finds the router by the first protocol that it supports.
    pub(super) async fn find(search: &RouterSearch) -> Result<Self, RouterError> {
        match search.method {
            MappingMethod::Upnp => Self::by_upnp(search).await,
            MappingMethod::Pmp => Self::by_natpmp(search).await,
            MappingMethod::Any => match Self::by_upnp(search).await {
                Ok(router) => Ok(router),
                Err(error) => {
                    tracing::debug!(%error, "asking the router by NAT-PMP instead");
                    Self::by_natpmp(search).await
                }
            },
        }
    }

    async fn by_upnp(search: &RouterSearch) -> Result<Self, RouterError> {
        Ok(Self::Upnp(upnp::search(search.ssdp).await?))
    }

    async fn by_natpmp(search: &RouterSearch) -> Result<Self, RouterError> {
        let of_route = || default_route::router().map(|ip| SocketAddr::from((ip, NATPMP_PORT)));
        let at = search.natpmp.or_else(of_route);
        let at = at.ok_or(RouterError::NoDefaultRoute)?;
        natpmp::public_address(at).await?;
        Ok(Self::Pmp(at))
    }

    /// Opens a port or keeps it open, preferably with the number `external`.
    pub(super) async fn open(
        &self,
        port: LocalPort,
        external: u16,
        lease: Duration,
    ) -> Result<Grant, RouterError> {
        match self {
            Self::Upnp(gateway) => {
                let ip = gateway.public_address().await?;
                let lasts = gateway.open(port, external, lease).await?;
                let at = SocketAddr::new(ip, external);
                Ok(Grant { at, lasts })
            }
            Self::Pmp(router) => {
                let ip = natpmp::public_address(*router).await?;
                let opened = natpmp::open(*router, port, external, lease).await?;
                let at = SocketAddr::from((ip, opened.external));
                let lasts = Some(opened.lasts);
                Ok(Grant { at, lasts })
            }
        }
    }

    /// Closes a port that was opened with the number `external`.
    pub(super) async fn close(&self, port: LocalPort, external: u16) -> Result<(), RouterError> {
        match self {
            Self::Upnp(gateway) => gateway.close(port.kind, external).await?,
            Self::Pmp(router) => natpmp::close(*router, port).await?,
        }
        Ok(())
    }

    /// Returns the name of the protocol, for the log.
    pub(super) fn protocol(&self) -> &'static str {
        match self {
            Self::Upnp(_) => "UPnP",
            Self::Pmp(_) => "NAT-PMP",
        }
    }
}
