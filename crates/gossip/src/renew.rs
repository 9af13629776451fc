//! A connected peer whose frames go over another stream from now on.

use crate::error::ApiMisuse;
use crate::io::NewPeer;
use crate::router::Router;

impl Router {
    /// Tells the peer again which topics are joined and in which meshes it is. Frames of the old stream
    /// may be lost in both directions, and with them SUBSCRIBE and GRAFT; a peer may also have forgotten
    /// this node while its old connection died unnoticed here. Neither message does harm when repeated.
    ///
    /// What the peer said stays true until it says otherwise: not every implementation announces its
    /// topics again on a second connection.
    pub(crate) fn renewed(&mut self, new: NewPeer) -> Result<(), ApiMisuse> {
        let peer = new.peer;
        let now = self.now;
        let state = self
            .peers
            .get_mut(peer)
            .ok_or(ApiMisuse::UnknownPeer(peer))?;
        // A peer that has started again knows of no backoff from before.
        state.connected_at = now;
        state.direction = new.direction;
        state.features = new.features;
        let understands_graft = new.features.mesh;
        self.scores.connected(peer, new.ip);
        for ix in self.topics.joined() {
            let topic = self.topics.get(ix);
            let (name, in_mesh) = (topic.name.clone(), topic.mesh.contains(peer));
            self.control(peer).subscription(true, &name);
            if in_mesh && !understands_graft {
                self.remove_from_mesh(ix, peer);
            } else if in_mesh {
                self.stats.sent.graft += 1;
                self.control(peer).graft(&name);
            }
        }
        Ok(())
    }
}
