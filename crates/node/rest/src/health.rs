//! The route `/health`: health of the node and its protocols.

use axum::{Json, extract::State};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    ANSWER_TIMEOUT, App,
    errors::ApiError,
    peers::{FILTER_SUBSCRIBE, LIGHTPUSH_V2, LIGHTPUSH_V3, STORE},
};
use undertone_network::command::{
    Connectedness, ConnectionStatus, HealthReport, HealthStatus, PeerSnapshot, ProtocolHealth,
    RlnSnapshot, ShardHealth,
};
use undertone_provider::services::{LightStatus, MountedServices, SendQueueState};

#[cfg(test)]
#[path = "tests/health.rs"]
mod tests;

const FILTER_CLIENT: &str = "Filter Client";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(health))
}

/// Health of the node and of each protocol
///
/// Answered without a token.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "health",
    tag = "node",
    responses(
        (status = 200, description = "Health", body = HealthBody),
        (status = 500, description = "`Health check timed out`", content_type = "text/plain", body = String),
        (status = 503, description = "`Health check failed`", content_type = "text/plain", body = String),
    ),
)]
async fn health(State(app): State<App>) -> Result<Json<HealthBody>, ApiError> {
    Ok(Json(judged(&app).await?))
}

/// Returns the health of the node and its services as the body of the answer.
pub(super) async fn judged(app: &App) -> Result<HealthBody, ApiError> {
    report(app).await.map(Into::into)
}

/// Returns the health of the node and its services.
pub(super) async fn report(app: &App) -> Result<HealthReport, ApiError> {
    match timeout(ANSWER_TIMEOUT, app.handle.health()).await {
        Err(_) => Err(ApiError::Internal("Health check timed out".into())),
        Ok(Err(_)) => Err(ApiError::Unavailable("Health check failed".into())),
        Ok(Ok(mut report)) => {
            if let Some(services) = &app.services {
                let peers = app.handle.peers().await?;
                let trouble = services.store_trouble();
                let mounted = services.mounted();
                add_services(&mut report, mounted, trouble, &peers);
                if mounted.lightpush {
                    let rln = app.handle.rln().await?;
                    judge_lightpush(&mut report, unproved(mounted, rln.as_ref()));
                }
                judge_send_queue(&mut report, services.sender().state());
                let light = services.light_status();
                judge_subscriptions(&mut report, &light);
                name_strangers(&mut report, &light);
            }
            if !app.config.relay {
                report.protocols.iter_mut().for_each(unmount_relay);
                name_unserved(&mut report, &app.config.unserved);
                report.connection = light_connection(&report.protocols);
                report.shards.clear();
            }
            Ok(report)
        }
    }
}

/// Marks relay as not mounted: without relaying, a lack of peers is not a fault.
fn unmount_relay(health: &mut ProtocolHealth) {
    if health.protocol == "Relay" {
        health.status = HealthStatus::NotMounted;
        health.desc = None;
    }
}

/// Reports services that the configuration asks for but that are not offered, because the node does not relay.
fn name_unserved(report: &mut HealthReport, unserved: &[&str]) {
    for health in &mut report.protocols {
        let name = health.protocol.to_ascii_lowercase();
        if unserved.contains(&name.trim_start_matches("legacy ")) {
            health.status = HealthStatus::NotReady;
            health.desc = Some("not served, because relay is false".to_owned());
        }
    }
}

/// Reports subscriptions that no filter peer holds, if there are any.
fn judge_subscriptions(report: &mut HealthReport, light: &LightStatus) {
    let deserted: Vec<_> = light.deserted().map(AsRef::as_ref).collect();
    let client = report.protocols.iter_mut();
    let client = client
        .into_iter()
        .find(|health| health.protocol == FILTER_CLIENT);
    if let (Some(client), false) = (client, deserted.is_empty())
        && client.status == HealthStatus::Ready
    {
        client.status = HealthStatus::NotReady;
        client.desc = Some(format!(
            "No filter peer has the subscriptions of {}",
            deserted.join(", ")
        ));
    }
}

/// Notes the services for which only strangers were asked. This is no fault: a network may have no other peers.
fn name_strangers(report: &mut HealthReport, light: &LightStatus) {
    for service in &light.strangers_alone {
        let client = format!("{service} client");
        let mut clients = report.protocols.iter_mut();
        let client = clients.find(|health| health.protocol.eq_ignore_ascii_case(&client));
        if let Some(client) = client.filter(|client| client.desc.is_none()) {
            client.desc = Some(
                "Only strangers were asked, peers that dialled this node; name a peer for the service"
                    .to_owned(),
            );
        }
    }
}

/// Notes that lightpush, although ready, refuses messages without a proof.
fn judge_lightpush(report: &mut HealthReport, unproved: Option<&'static str>) {
    for health in &mut report.protocols {
        let is_lightpush = ["Lightpush", "Legacy Lightpush"].contains(&health.protocol);
        if is_lightpush && health.status == HealthStatus::Ready {
            health.desc = unproved.map(str::to_owned);
        }
    }
}

/// Returns why light clients' messages without a proof are refused at present; `None` if they are accepted.
fn unproved(mounted: MountedServices, rln: Option<&RlnSnapshot>) -> Option<&'static str> {
    let rln = rln?;
    if !mounted.lightpush_proofs {
        return Some("messages without a proof are refused: lightpush-proofs is false");
    }
    if !rln.may_publish {
        return Some("messages without a proof are refused: this node has no membership");
    }
    let is_spent = rln.allowance?.left_for_clients() == 0;
    is_spent.then_some(
        "messages without a proof are refused until the epoch ends: the light clients' share of it is used up",
    )
}

/// Reports that accepted messages are not sent, because the send queue cannot be written.
fn judge_send_queue(report: &mut HealthReport, state: SendQueueState) {
    if let Some(trouble) = state.trouble {
        report.node = HealthStatus::NotReady;
        report.protocols.push(ProtocolHealth {
            protocol: "Send Queue",
            status: HealthStatus::NotReady,
            desc: Some(trouble),
        });
    }
}

/// Returns the connection status of a node without relay: whether it can receive messages and publish them.
fn light_connection(protocols: &[ProtocolHealth]) -> ConnectionStatus {
    let is_ready = |name: &&str| {
        let mut all = protocols.iter();
        all.any(|health| health.protocol == *name && health.status == HealthStatus::Ready)
    };
    let clients = [FILTER_CLIENT, "Lightpush Client"];
    match clients.iter().filter(|name| is_ready(name)).count() {
        0 => ConnectionStatus::Disconnected,
        1 => ConnectionStatus::PartiallyConnected,
        _ => ConnectionStatus::Connected,
    }
}

/// Replaces the entries that say that the node has no services.
fn add_services(
    report: &mut HealthReport,
    mounted: MountedServices,
    store_trouble: Option<String>,
    peers: &[PeerSnapshot],
) {
    // If the store cannot write, the node is not ready, whatever else works.
    if store_trouble.is_some() {
        report.node = HealthStatus::NotReady;
    }
    let relays = report
        .protocols
        .iter()
        .any(|health| health.protocol == "Relay" && health.status == HealthStatus::Ready);
    let needs_relay = |desc: &'static str| (!relays).then_some(desc);
    let offered = |protocol: &str| {
        peers.iter().any(|peer| {
            peer.connected == Connectedness::Connected
                && peer.protocols.iter().any(|own| own == protocol)
        })
    };
    let needs_peer = |protocol, desc: &'static str| (!offered(protocol)).then_some(desc);
    let push = needs_relay("Node has no relay peers to fullfill push requests");
    let no_push = "No Lightpush service peer available yet";
    let no_store = "No Store service peer available yet, neither Store service set up for the node";
    // Protocol, whether it is mounted, and what it lacks.
    let services = [
        ("Lightpush", mounted.lightpush, push),
        ("Legacy Lightpush", mounted.lightpush, push),
        (
            "Filter",
            mounted.filter,
            needs_relay("Relay is not ready, filter will not be able to sort out messages"),
        ),
        ("Store", mounted.store, store_trouble.as_deref()),
        ("Peer Exchange", mounted.peer_exchange, None),
        ("Rendezvous", mounted.rendezvous, None),
        ("Lightpush Client", true, needs_peer(LIGHTPUSH_V3, no_push)),
        (
            "Legacy Lightpush Client",
            true,
            needs_peer(LIGHTPUSH_V2, no_push),
        ),
        (
            "Store Client",
            true,
            needs_peer(STORE, no_store).filter(|_| !mounted.store),
        ),
        (
            FILTER_CLIENT,
            true,
            needs_peer(FILTER_SUBSCRIBE, "No Filter service peer available yet"),
        ),
    ];
    for (protocol, is_mounted, lack) in services {
        let (status, desc) = match lack {
            _ if !is_mounted => (HealthStatus::NotMounted, None),
            Some(desc) => (HealthStatus::NotReady, Some(desc.to_owned())),
            None => (HealthStatus::Ready, None),
        };
        let entry = ProtocolHealth {
            protocol,
            status,
            desc,
        };
        let others = report.protocols.iter_mut();
        match others.into_iter().find(|other| other.protocol == protocol) {
            Some(other) => *other = entry,
            None => report.protocols.push(entry),
        }
    }
}

/// Health of the node and its protocols.
#[derive(Serialize, ToSchema)]
#[schema(as = Health)]
#[serde(rename_all = "camelCase")]
pub(super) struct HealthBody {
    /// `INITIALIZING`, `SYNCHRONIZING`, `READY`, `NOT_READY`, `NOT_MOUNTED`, `SHUTTING_DOWN` or
    /// `EVENT_LOOP_LAGGING`.
    node_health: &'static str,
    /// `Disconnected`, `PartiallyConnected` or `Connected`.
    connection_status: &'static str,
    /// One object for each protocol, with its name and status, and `desc` if there is an explanation.
    #[schema(value_type = Vec<BTreeMap<String, String>>)]
    protocols_health: Vec<ProtocolBody>,
    /// Each shard that the node relays.
    shards_health: Vec<ShardBody>,
}

/// Health of relaying on one shard.
#[derive(Serialize, ToSchema)]
#[schema(as = ShardHealth)]
#[serde(rename_all = "camelCase")]
struct ShardBody {
    /// Pubsub topic of the shard.
    pubsub_topic: String,
    /// `READY`, or `NOT_READY` if nothing is relayed.
    health: &'static str,
    /// Peers in this node's mesh.
    mesh_peers: usize,
    /// Connected peers that are subscribed to the topic.
    subscribed_peers: usize,
    /// Reason why nothing is relayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    desc: Option<&'static str>,
}

impl From<ShardHealth> for ShardBody {
    fn from(shard: ShardHealth) -> Self {
        Self {
            pubsub_topic: shard.topic,
            health: status(match shard.trouble {
                None => HealthStatus::Ready,
                Some(_) => HealthStatus::NotReady,
            }),
            mesh_peers: shard.mesh,
            subscribed_peers: shard.subscribers,
            desc: shard.trouble,
        }
    }
}

/// JSON form `{"<protocol>": "<status>", "desc": "<why>"}`, with `desc` only if there is a description.
struct ProtocolBody(ProtocolHealth);

impl Serialize for ProtocolBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(self.0.protocol, status(self.0.status))?;
        if let Some(desc) = &self.0.desc {
            map.serialize_entry("desc", desc)?;
        }
        map.end()
    }
}

impl From<HealthReport> for HealthBody {
    fn from(report: HealthReport) -> Self {
        Self {
            node_health: status(report.node),
            connection_status: match report.connection {
                ConnectionStatus::Disconnected => "Disconnected",
                ConnectionStatus::PartiallyConnected => "PartiallyConnected",
                ConnectionStatus::Connected => "Connected",
            },
            protocols_health: report.protocols.into_iter().map(ProtocolBody).collect(),
            shards_health: report.shards.into_iter().map(Into::into).collect(),
        }
    }
}

fn status(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Initializing => "INITIALIZING",
        HealthStatus::Synchronizing => "SYNCHRONIZING",
        HealthStatus::Ready => "READY",
        HealthStatus::NotReady => "NOT_READY",
        HealthStatus::NotMounted => "NOT_MOUNTED",
        HealthStatus::ShuttingDown => "SHUTTING_DOWN",
        HealthStatus::EventLoopLagging => "EVENT_LOOP_LAGGING",
    }
}
