//! GossipSub's strategy: full messages are sent along the mesh.

use super::interface::Strategy;

#[derive(Debug)]
pub(super) struct EagerMesh;

impl Strategy for EagerMesh {}
