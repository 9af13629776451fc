//! Raw peer that offers peer exchange and returns predetermined answers.

use std::net::Ipv4Addr;

use futures::StreamExt;
use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use libp2p::swarm::{Stream, StreamProtocol};
use libp2p_stream as stream;
use tokio::task::JoinSet;
use undertone_services::peer_exchange::PROTOCOL_ID;

use super::frames::{read_one, write_last};
use super::{RawError, listening};

/// Peer that answers requests for records; a drop closes its connections.
pub struct RawExchange {
    addr: Multiaddr,
    _tasks: JoinSet<()>,
}

impl RawExchange {
    /// Listens on an address of loopback. The requests get the `answers` in order; the last answer is repeated.
    pub async fn start(answers: Vec<Vec<u8>>, ip: Ipv4Addr) -> Result<Self, RawError> {
        let (mut swarm, addr) = listening(Keypair::generate_secp256k1(), ip).await?;
        let mut control = swarm.behaviour().streams.new_control();
        let questions = control
            .accept(StreamProtocol::new(PROTOCOL_ID))
            .expect("a new swarm accepts no protocol yet");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                swarm.select_next_some().await;
            }
        });
        tasks.spawn(answer_all(questions, answers));
        Ok(Self {
            addr,
            _tasks: tasks,
        })
    }

    /// Returns the address to connect to, with `/p2p`.
    #[must_use]
    pub fn addr(&self) -> &Multiaddr {
        &self.addr
    }
}

async fn answer_all(mut questions: stream::IncomingStreams, answers: Vec<Vec<u8>>) {
    let mut turn = 0;
    while let Some((_, stream)) = questions.next().await {
        if let Some(answer) = answers.get(turn).or(answers.last())
            && reply(stream, answer).await.is_some()
        {
            turn += 1;
        }
    }
}

/// Answers one request; returns `None` if there was none. A client may disconnect during a long answer.
async fn reply(mut stream: Stream, answer: &[u8]) -> Option<()> {
    read_one(&mut stream).await?;
    let _ = write_last(&mut stream, answer).await;
    Some(())
}
