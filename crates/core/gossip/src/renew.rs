//! Replacement of the stream of a connected peer.

use crate::error::ApiMisuse;
use crate::io::NewPeer;
use crate::router::Router;

impl Router {
    /// Sends the peer its subscriptions and GRAFTs again. Frames on the old stream may be lost in both
    /// directions, and with them SUBSCRIBE and GRAFT; a peer may also have forgotten this node while its
    /// old connection died unnoticed here. Repeating either entry does no harm.
    ///
    /// The peer's own subscriptions stay valid until it changes them: not every implementation announces
    /// its topics again on a second connection.
    pub(crate) fn renewed(&mut self, new: NewPeer) -> Result<(), ApiMisuse> {
        let peer = new.peer;
        let now = self.now;
        let state = self
            .peers
            .get_mut(peer)
            .ok_or(ApiMisuse::UnknownPeer(peer))?;
        // A peer that was restarted does not know the backoffs from before.
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
