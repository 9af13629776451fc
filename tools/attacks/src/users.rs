//! Honest users of the victim's services, and how long each service takes to serve them.
//!
//! A light client queries the store, publishes by lightpush and asks for peers. A second one receives by
//! filter what the first publishes; a program receives it by server-sent events and queries the REST API.

use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_services::filter::{FilterCodecLimits, FilterStatus, MessagePush, SubscribeResponse};
use undertone_services::lightpush::{LightpushCodecLimits, LightpushResponse, LightpushStatus};
use undertone_services::peer_exchange::{PeerExchangeCodecLimits, PeerExchangeResponse};
use undertone_services::store::{StoreLimits, StoreResponse, StoreStatus};

use super::node::{Node, Target};
use super::rest;
use super::service_client::ServiceClient;
use super::topics::{prefix, pubsub_topic};
use super::{HostileError, Tasks, asks};

/// Time limit of each request and of a message's arrival; long, because a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time after the first pushed message during which a node learns how a client uses streams; messages that
/// arrive meanwhile wait.
const ACQUAINTED: Duration = Duration::from_millis(1_200);
/// Addresses of the two light clients.
const CLIENT_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 31);
const SUBSCRIBER_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 32);
/// Names of the services, in the order of their results.
const NAMES: [&str; 6] = ["lightpush", "filter", "events", "store", "px", "rest"];
/// Interval between two rounds of requests.
pub const ROUND: Duration = Duration::from_millis(250);

/// Results of requests to one service, or of messages that it should deliver.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AskedService {
    /// Name of the service.
    pub service: &'static str,
    /// Number of requests or messages.
    pub asked: usize,
    /// Number that were answered correctly, or arrived.
    pub answered: usize,
    /// Times until the answer or arrival, ascending, milliseconds.
    #[serde(skip)]
    pub latencies_ms: Vec<f64>,
    /// Reason of the first failure.
    pub failure: Option<String>,
}

/// Time from a request to the expected answer, or the reason why there was none.
type AskOutcome = Result<Duration, String>;

impl AskedService {
    fn of(service: &'static str) -> Self {
        Self {
            service,
            ..Self::default()
        }
    }

    fn note(&mut self, round: u32, latency: AskOutcome) {
        self.asked += 1;
        match latency {
            Ok(latency) => {
                self.answered += 1;
                self.latencies_ms.push(latency.as_secs_f64() * 1e3);
            }
            Err(reason) if self.failure.is_none() => {
                self.failure = Some(format!("round {round}: {reason}"));
            }
            Err(_) => {}
        }
    }

    /// Returns a percentile of the latencies by nearest rank; `None` if nothing was answered.
    #[must_use]
    pub fn percentile_ms(&self, percent: usize) -> Option<f64> {
        let rank = (self.latencies_ms.len() * percent).div_ceil(100).max(1);
        self.latencies_ms.get(rank - 1).copied()
    }
}

/// Honest users of a node's services.
pub struct Users<'a> {
    /// Node that publishes the messages, on a network where the victim rejects those of light clients because
    /// they have no proofs. `None` if a light client publishes them.
    publisher: Option<&'a Node>,
    target: Target,
    rest: SocketAddr,
    pubsub_topic: String,
    content_topic: String,
    /// Light client, or the reason why it is not connected.
    client: Result<ServiceClient, String>,
    _subscriber: ServiceClient,
    pushes: mpsc::UnboundedReceiver<Bytes>,
    events: mpsc::UnboundedReceiver<String>,
    _tasks: Tasks,
}

impl<'a> Users<'a> {
    /// Connects the users and subscribes those that receive messages. `name` makes their messages unique.
    pub async fn connect(
        victim: &Node,
        publisher: Option<&'a Node>,
        name: &str,
    ) -> Result<Self, HostileError> {
        let (target, rest) = (victim.target(), victim.rest());
        let pubsub_topic = pubsub_topic(0);
        let content_topic = format!("{}/{name}/proto", prefix(0));
        let (sender, pushes) = mpsc::unbounded_channel();
        let subscriber = ServiceClient::connect(SUBSCRIBER_IP, target, Some(sender)).await?;
        let wanted = asks::subscribe(&pubsub_topic, [content_topic.clone()]);
        let answer = subscriber.raw.ask(asks::FILTER, &wanted).await?;
        let answer = SubscribeResponse::decode(&answer, &FilterCodecLimits::default());
        if !matches!(&answer, Ok(answer) if answer.status == FilterStatus::OK) {
            return Err(HostileError::Unserved {
                service: "filter",
                answer: format!("{answer:?}"),
            });
        }
        let (line, events) = mpsc::unbounded_channel();
        let path = format!(
            "/events/v1/messages?contentTopics={}",
            content_topic.replace('/', "%2F")
        );
        let mut stream = rest::events(rest, &path, None)
            .await
            .map_err(HostileError::io("cannot open an event stream"))?;
        let mut tasks = Tasks::default();
        tasks.spawn_honest(async move {
            while let Some(data) = stream.next().await {
                if line.send(data).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            publisher,
            target,
            rest,
            pubsub_topic,
            content_topic,
            client: Ok(ServiceClient::connect(CLIENT_IP, target, None).await?),
            _subscriber: subscriber,
            pushes,
            events,
            _tasks: tasks,
        })
    }

    /// Connects users like [`Self::connect`], and makes them use all services. If they cannot even connect,
    /// nothing is answered.
    pub async fn serve(
        victim: &Node,
        publisher: Option<&'a Node>,
        name: &str,
        rounds: u32,
    ) -> Vec<AskedService> {
        match Self::connect(victim, publisher, name).await {
            Ok(mut users) => users.measure(rounds).await,
            Err(error) => {
                eprintln!("the users of the services were not let in: {error}");
                let mut all = NAMES.map(AskedService::of);
                for asked in &mut all {
                    asked.asked = rounds as usize;
                    asked.failure = Some(error.to_string());
                }
                all.into()
            }
        }
    }

    /// Makes requests to all services for a number of rounds, one every [`ROUND`], after a first round that
    /// does not count.
    pub async fn measure(&mut self, rounds: u32) -> Vec<AskedService> {
        let mut all = NAMES.map(AskedService::of);
        let _unmeasured = self.round(u32::MAX).await;
        tokio::time::sleep(ACQUAINTED).await;
        let mut ticks = tokio::time::interval(ROUND);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for round in 0..rounds {
            ticks.tick().await;
            if self.client.is_err() {
                let client = ServiceClient::connect(CLIENT_IP, self.target, None).await;
                self.client = client.map_err(|error| format!("not connected: {error}"));
            }
            let latencies = self.round(round).await;
            if latencies[0].is_err() && latencies[3].is_err() {
                self.client = Err("the connection may be gone".to_owned());
            }
            for (asked, latency) in all.iter_mut().zip(latencies) {
                asked.note(round, latency);
            }
        }
        for asked in &mut all {
            asked.latencies_ms.sort_by(f64::total_cmp);
        }
        all.into()
    }

    async fn round(&mut self, round: u32) -> [AskOutcome; 6] {
        let mut payload = vec![0; 64];
        payload[..4].copy_from_slice(&round.to_be_bytes());
        let client = self.client.as_ref().map(|client| &client.raw);
        let ask = async |protocol, request: &[u8]| match client {
            Ok(client) => (client.ask(protocol, request).await).map_err(|error| error.to_string()),
            Err(reason) => Err(reason.clone()),
        };
        let push = asks::push(&self.pubsub_topic, &self.content_topic, payload.clone());
        let query = asks::newest(Some(&self.content_topic), 20);
        let expected = match self.publisher {
            Some(_) => LightpushStatus::OUT_OF_RLN_PROOF,
            None => LightpushStatus::OK,
        };
        let pushed = until(async {
            let answer = ask(asks::LIGHTPUSH, &push).await?;
            let answer = LightpushResponse::decode(&answer, &LightpushCodecLimits::default());
            expect(answer, |answer| answer.status == expected)
        });
        let published = async {
            if let Some(node) = self.publisher {
                node.publish(&self.pubsub_topic, &self.content_topic, &payload)
                    .await;
            }
        };
        let filtered = until(arrival(&mut self.pushes, |frame| {
            let push = MessagePush::decode(&frame, &FilterCodecLimits::default());
            push.is_ok_and(|push| push.message.payload == payload)
        }));
        let in_json = STANDARD.encode(&payload);
        let told = until(arrival(&mut self.events, |data| data.contains(&in_json)));
        let stored = until(async {
            let answer = ask(asks::STORE, &query).await?;
            let answer = StoreResponse::decode(&answer, &StoreLimits::default());
            expect(answer, |answer| answer.status == StoreStatus::Ok)
        });
        let exchanged = until(async {
            let answer = ask(asks::EXCHANGE, &asks::peers(5)).await?;
            let answer = PeerExchangeResponse::decode(&answer, &PeerExchangeCodecLimits::default());
            expect(answer, |_| true)
        });
        let asked = until(async {
            let answer = rest::request(self.rest, "GET", "/version", None).await;
            expect(answer, |answer| answer.status == 200)
        });
        let all = async { tokio::join!(pushed, filtered, told, stored, exchanged, asked) };
        let (all, ()) = tokio::join!(all, published);
        all.into()
    }
}

/// Converts an answer other than the expected one to the reason of a failure.
fn expect<T: Debug, E: Debug>(
    answer: Result<T, E>,
    is_expected: impl FnOnce(&T) -> bool,
) -> Result<(), String> {
    match &answer {
        Ok(good) if is_expected(good) => Ok(()),
        _ => Err(format!("{answer:?}")),
    }
}

/// Returns the time until a future completes successfully.
async fn until(done: impl Future<Output = Result<(), String>>) -> AskOutcome {
    let start = Instant::now();
    match timeout(PATIENCE, done).await {
        Ok(done) => done.map(|()| start.elapsed()),
        Err(_) => Err(format!("nothing within {PATIENCE:?}")),
    }
}

async fn arrival<T>(
    arriving: &mut mpsc::UnboundedReceiver<T>,
    is_it: impl Fn(T) -> bool,
) -> Result<(), String> {
    while let Some(one) = arriving.recv().await {
        if is_it(one) {
            return Ok(());
        }
    }
    Err("no more can arrive: the connection is gone".to_owned())
}
