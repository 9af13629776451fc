//! Time of a light client's message from its request to the answer that it was published.

use std::path::Path;
use std::time::{Duration, Instant};

use libp2p::identity::Keypair;
use tokio::time::sleep;
use undertone_attacks::raw::RawClient;
use undertone_attacks::test_network::pubsub_topic;
use undertone_attacks::{HostileError, asks};
use undertone_message::WakuMessage;
use undertone_services::lightpush::{LightpushCodecLimits, LightpushResponse, LightpushStatus};

use crate::serving::ServingOptions;
use crate::serving::network::{ServingNetwork, payload, topic};
use crate::serving::report::ServingFigures;

/// Pause between requests.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn measure(
    program: &Path,
    options: &ServingOptions,
    rln: bool,
) -> Result<ServingFigures, HostileError> {
    let mut network = ServingNetwork::start(program, 1, rln).await?;
    let key = Keypair::generate_ed25519();
    let client = RawClient::dial(key, &network.edge.addr(), asks::PUSH, None).await?;
    let before = network.look();
    let mut times_ms = Vec::new();
    let mut refused = None;
    for number in 0..options.messages {
        sleep(PAUSE).await;
        let payload = payload(number, options.payload_bytes);
        let message = match &mut network.author {
            Some(author) => author.message(payload, &topic(number))?,
            None => WakuMessage {
                timestamp: Some(asks::now_ns()),
                ..WakuMessage::new(payload, topic(number))
            },
        };
        let request = asks::push_of(&pubsub_topic(0), message);
        let start = Instant::now();
        let answer = client.ask(asks::LIGHTPUSH, &request).await?;
        let elapsed = start.elapsed();
        match LightpushResponse::decode(&answer, &LightpushCodecLimits::default()) {
            Ok(answer) if answer.status == LightpushStatus::OK => {
                times_ms.push(elapsed.as_secs_f64() * 1e3);
            }
            other => refused = Some(format!("{other:?}")),
        }
    }
    if let Some(refused) = refused {
        eprintln!("a request was refused: {refused}");
    }
    Ok(ServingFigures {
        about: format!(
            "lightpush: {} requests of {} bytes, {}",
            options.messages,
            options.payload_bytes,
            match rln {
                true => "with rate-limit proofs, which the client made before",
                false => "without rate limit",
            }
        ),
        expected: options.messages as usize,
        arrived: times_ms.len(),
        repeated: 0,
        times: vec![("request to acceptance", times_ms)],
        node: [before, network.look()],
        messages: options.messages,
    })
}
