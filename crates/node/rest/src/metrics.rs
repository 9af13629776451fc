//! The route `GET /metrics`: all counters and gauges, for Prometheus. It can have its own port, as in nwaku.

use std::fmt;
use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    App,
    errors::{ApiError, NodeStopped},
};
use undertone_network::command::{JobSizes, MetricsSnapshot, RlnSnapshot, TokenSnapshot};
use undertone_network::handle::NodeHandle;
use undertone_network::traces::TraceTotals;
use undertone_provider::services::{
    ArchiveCounts, LightStatus, SendQueueState, ServicesHandle, SyncHandle,
};

mod chain;
mod dashboards;
mod nat;
mod prefixes;
mod process;
mod rendezvous;
mod services;
mod shards;
mod sync;

pub use prefixes::MetricsNames;

use dashboards::{LaterPrefixed, LibP2pNames, WakuNames};
use process::ProcessNames;
use rendezvous::RendezvousNames;
use services::ServiceNames;
use sync::SyncDetails;

/// Content type of OpenMetrics, the format that Prometheus asks for.
const CONTENT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(metrics))
}

/// Counters and gauges for Prometheus
///
/// OpenMetrics text.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "node",
    responses(
        (status = 200, description = "Metrics", content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8", body = String),
        NodeStopped,
    ),
)]
async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    page(&app.handle, app.services.as_ref(), app.config.metrics_names).await
}

/// Returns a router for a separate port that serves `/metrics` only. It cannot change anything, so it needs
/// no token.
pub fn metrics_router(
    handle: NodeHandle,
    services: Option<ServicesHandle>,
    names: MetricsNames,
) -> Router {
    type Sources = (NodeHandle, Option<ServicesHandle>, MetricsNames);
    let metrics = |State((handle, services, names)): State<Sources>| async move {
        page(&handle, services.as_ref(), names).await
    };
    Router::new()
        .route("/metrics", get(metrics))
        .with_state((handle, services, names))
}

async fn page(
    handle: &NodeHandle,
    services: Option<&ServicesHandle>,
    names: MetricsNames,
) -> Result<Response, ApiError> {
    let snapshot = SharedSnapshot(Arc::from(handle.metrics().await?));
    let service_totals = services.and_then(|services| services.totals().ok());
    let mut registry = Registry::default();
    registry.register_collector(Box::new(ProcessNames));
    let ours = registry.sub_registry_with_prefix("undertone");
    ours.register_collector(Box::new(snapshot.clone()));
    if let Some(counts) = services.and_then(ServicesHandle::archive_counts) {
        let is_writing = services.is_some_and(|services| services.store_trouble().is_none());
        ours.register_collector(Box::new(StoreMetrics { counts, is_writing }));
    }
    if let Some(services) = services {
        ours.register_collector(Box::new(LightMetrics(services.light_status())));
        ours.register_collector(Box::new(SenderMetrics(services.sender().state())));
    }
    let sync = services.and_then(ServicesHandle::sync);
    let sync = sync.map(SyncHandle::totals);
    if let Some(totals) = &sync {
        ours.register_collector(Box::new(SyncDetails(totals.clone())));
    }
    registry.register_collector(Box::new(LibP2pNames(snapshot.clone())));
    if let Some(totals) = service_totals.as_ref().and_then(|all| all.rendezvous) {
        registry.register_collector(Box::new(RendezvousNames(totals)));
    }
    for prefix in names.prefixes() {
        let archive = services.and_then(ServicesHandle::archive_counts);
        let named = registry.sub_registry_with_prefix(*prefix);
        named.register_collector(Box::new(WakuNames {
            snapshot: snapshot.clone(),
            archive,
        }));
        if let Some(totals) = &service_totals {
            named.register_collector(Box::new(ServiceNames(totals.clone())));
        }
    }
    for prefix in names.prefixes() {
        let has_prefix = *prefix != "waku";
        let named = match has_prefix {
            true => registry.sub_registry_with_prefix(*prefix),
            false => &mut registry,
        };
        named.register_collector(Box::new(LaterPrefixed {
            snapshot: snapshot.clone(),
            sync: sync.clone(),
            has_prefix,
        }));
    }
    let mut text = String::new();
    encode(&mut text, &registry).expect("writing to a String does not fail");
    Ok(([(CONTENT_TYPE, CONTENT)], text).into_response())
}

/// Collector of the counts kept by the state machines and the driver.
#[derive(Debug, Clone)]
struct SharedSnapshot(Arc<MetricsSnapshot>);

impl Collector for SharedSnapshot {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut page = MetricsPage(encoder);
        page.node(&self.0)?;
        page.gossip(&self.0)?;
        page.nat(&self.0)?;
        page.traces(self.0.traces.as_ref())?;
        match &self.0.rln {
            Some(rln) => page.rln(rln),
            None => Ok(()),
        }
    }
}

/// Collector of the outcomes of messages passed to the store.
#[derive(Debug)]
struct StoreMetrics {
    counts: ArchiveCounts,
    is_writing: bool,
}

impl Collector for StoreMetrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, counts) = (MetricsPage(encoder), &self.counts);
        let outcomes = [
            ("kept", counts.kept),
            ("not_to_be_kept", counts.refused),
            ("lost", counts.lost),
        ];
        let help = "Valid messages, by what the store did with them";
        page.counters("store_messages", help, "outcome", outcomes.into_iter())?;
        let pending = usize::try_from(counts.pending).unwrap_or(usize::MAX);
        page.gauge(
            "store_waiting",
            "Messages that wait for the archive",
            pending,
        )?;
        let help = "Whether the archive takes messages";
        page.gauge("store_writing", help, usize::from(self.is_writing))
    }
}

/// Collector of the send queue's state.
#[derive(Debug)]
struct SenderMetrics(SendQueueState);

impl Collector for SenderMetrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, state) = (MetricsPage(encoder), &self.0);
        let help = "Messages of the send queue without an end";
        page.gauge("send_queue_waiting", help, state.waiting)?;
        let help = "Whether the send queue can be written; nothing is sent while it cannot";
        let is_writing = usize::from(state.trouble.is_none());
        page.gauge("send_queue_writing", help, is_writing)
    }
}

/// Collector of the outcomes of subscriptions at filter peers.
#[derive(Debug)]
struct LightMetrics(LightStatus);

impl Collector for LightMetrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, status) = (MetricsPage(encoder), &self.0);
        let peers = status.filter_peers.iter();
        let peers = peers.map(|(topic, peers)| (topic.as_ref(), *peers));
        let help = "Filter peers that have all subscriptions";
        page.gauges("light_filter_peers", help, "topic", peers)?;
        let origins = [("filter", status.pushed), ("store", status.recovered)];
        let help = "Messages of filter subscriptions, by where they came from";
        page.counters("light_messages", help, "origin", origins.into_iter())?;
        let help = "Breaches of a protocol by filter and store peers";
        page.counter("light_offences", help, status.offences)?;
        let help = "Spans of time whose messages could not be compared with history";
        page.counter("light_unchecked", help, status.unchecked)?;
        let strangers = status.strangers_alone.iter();
        let strangers = strangers.map(|service| (*service, 1));
        let help = "Services for which the word of strangers alone was taken the last time";
        page.gauges("service_strangers_alone", help, "service", strangers)
    }
}

struct MetricsPage<'a>(DescriptorEncoder<'a>);

impl MetricsPage<'_> {
    fn node(&mut self, snapshot: &MetricsSnapshot) -> fmt::Result {
        let totals = &snapshot.totals;
        self.gauge("peers", "Connected peers", snapshot.peers)?;
        self.bytes("received", "Pubsub frames received", totals.received_bytes)?;
        self.bytes(
            "queued",
            "Pubsub frames queued for peers",
            totals.queued_bytes,
        )?;
        self.counter("messages_delivered", "Valid messages", totals.delivered)?;
        self.counter("messages_published", "Own messages sent", totals.published)?;
        let help = "Own messages that went to nobody";
        self.counter("publish_failures", help, totals.publish_failed)?;
        let rejected = totals.rejected.iter().map(|(reason, n)| (*reason, *n));
        let help = "Messages of peers that were dropped";
        self.counters("messages_rejected", help, "reason", rejected)?;
        let help = "Members whose secret two messages gave away";
        self.counter("spammers_exposed", help, totals.spammers)?;
        let help = "Peers cut off for their score";
        self.counter("peers_graylisted", help, totals.graylisted)?;
        let help = "Peers that dialled this node and found no place";
        self.counter("connections_refused", help, totals.connections_refused)?;
        let help =
            "Attempts of peers that were cut off for the number of peers at their address alone";
        let for_address = totals.graylisted_for_address;
        self.counter("peers_graylisted_for_address", help, for_address)?;
        let help =
            "Questions for metadata that were not answered, as their peer had asked too often";
        self.counter("metadata_refused", help, totals.metadata_refused)
    }

    fn gossip(&mut self, snapshot: &MetricsSnapshot) -> fmt::Result {
        let (stats, usage) = (&snapshot.gossip.stats, &snapshot.gossip.usage);
        let topics = || snapshot.topics.iter();
        let mesh = topics().map(|t| (t.topic.as_str(), t.mesh));
        self.gauges("mesh_peers", "Peers in the mesh", "topic", mesh)?;
        let subscribers = topics().map(|t| (t.topic.as_str(), t.subscribers));
        self.gauges("topic_peers", "Peers subscribed", "topic", subscribers)?;
        let cut_off = topics().map(|t| (t.topic.as_str(), usize::from(t.is_cut_off)));
        let help = "Whether nothing is relayed, because no peer in the mesh answers";
        self.gauges("shard_cut_off", help, "topic", cut_off)?;
        self.shards(&snapshot.topics)?;
        for (name, help, total) in [
            ("frames_received", "Frames received", stats.frames_received),
            (
                "messages_received",
                "First copies received",
                stats.messages_received,
            ),
            (
                "duplicates_received",
                "Further copies received",
                stats.duplicates_received,
            ),
            ("messages_sent", "Copies sent", stats.messages_sent),
            (
                "sends_cancelled",
                "Copies taken back in time",
                stats.sends_cancelled,
            ),
            (
                "sends_dropped",
                "Frames dropped from full queues",
                stats.sends_dropped,
            ),
        ] {
            self.counter(name, help, total)?;
        }
        for (name, help, control) in [
            (
                "control_received",
                "Control entries received",
                &stats.received,
            ),
            ("control_sent", "Control entries sent", &stats.sent),
        ] {
            let kinds = [
                ("graft", control.graft),
                ("prune", control.prune),
                ("ihave", control.ihave),
                ("iwant", control.iwant),
                ("idontwant", control.idontwant),
            ];
            self.counters(name, help, "kind", kinds.into_iter())?;
        }
        self.gauge("seen_messages", "Message ids remembered", usage.seen)?;
        let help = "Messages that wait for their verdict";
        self.gauge("messages_waiting", help, usage.pending)?;
        let cached = usage.cache_bytes;
        self.gauge_in(
            "cache",
            "Messages kept for gossip",
            Some(&Unit::Bytes),
            cached,
        )
    }

    fn rln(&mut self, rln: &RlnSnapshot) -> fmt::Result {
        let member = usize::from(rln.may_publish);
        self.gauge("rln_member", "1 when this node may publish", member)?;
        let now = rln.membership;
        if let Some(version) = now.version {
            let version = usize::try_from(version).unwrap_or(usize::MAX);
            self.gauge(
                "registry_version",
                "Changes of the membership so far",
                version,
            )?;
        }
        if let Some(members) = now.members {
            self.gauge("registry_members", "Members", members)?;
        }
        self.gauge(
            "registry_roots",
            "Membership roots that are accepted",
            now.roots,
        )?;

        let verifier = &rln.verifier;
        self.gauge(
            "verifier_waiting",
            "Proofs that wait to be checked",
            verifier.waiting,
        )?;
        let help = "Peers whose proofs are checked singly";
        self.gauge("verifier_suspects", help, verifier.suspects)?;
        let verified = verifier.checked_total - verifier.bad_total;
        let verdicts = [("good", verified), ("bad", verifier.bad_total)];
        let help = "Proofs checked";
        self.counters("verifier_proofs", help, "verdict", verdicts.into_iter())?;
        let help = "Proofs checked at a time";
        self.sizes(
            "verifier_batch_proofs",
            help,
            &verifier.job_sizes,
            verifier.checked_total,
        )?;
        if let Some(tokens) = &rln.tokens {
            self.tokens(tokens)?;
        }
        match &rln.chain {
            Some(chain) => self.chain(chain),
            None => Ok(()),
        }
    }

    fn tokens(&mut self, TokenSnapshot { config, state }: &TokenSnapshot) -> fmt::Result {
        self.gauge("tokens_target", "Tokens to be kept ready", config.size)?;
        self.gauge("tokens_ready", "Tokens that are ready", state.ready)?;
        for (name, help, total) in [
            ("tokens_prepared", "Tokens prepared", state.prepared_total),
            ("tokens_taken", "Tokens used by sends", state.taken_total),
            (
                "tokens_missed",
                "Sends that found no token",
                state.missed_total,
            ),
            (
                "tokens_discarded",
                "Tokens dropped unused",
                state.discarded_total,
            ),
        ] {
            self.counter(name, help, total)?;
        }
        let spent_s = state.spent_ns_total as f64 / 1e9;
        let kind = MetricType::Counter;
        let help = "Time spent on preparing tokens";
        let mut metric = self.metric("tokens_preparing", help, Some(&Unit::Seconds), kind)?;
        metric.encode_counter::<NoLabelSet, _, u64>(&spent_s, None)
    }

    fn traces(&mut self, totals: Option<&TraceTotals>) -> fmt::Result {
        let Some(totals) = totals else {
            return Ok(());
        };
        let outcomes = [
            ("taken", totals.taken),
            ("dropped", totals.dropped),
            ("lost", totals.lost),
        ];
        let help = "Spans, by whether the collector took them";
        self.counters("trace_spans", help, "outcome", outcomes.into_iter())
    }

    fn counter(&mut self, name: &str, help: &str, total: u64) -> fmt::Result {
        let mut metric = self.metric(name, help, None, MetricType::Counter)?;
        metric.encode_counter::<NoLabelSet, _, u64>(&total, None)
    }

    fn bytes(&mut self, name: &str, help: &str, total: u64) -> fmt::Result {
        let mut metric = self.metric(name, help, Some(&Unit::Bytes), MetricType::Counter)?;
        metric.encode_counter::<NoLabelSet, _, u64>(&total, None)
    }

    fn counters<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        totals: impl Iterator<Item = (&'a str, u64)>,
    ) -> fmt::Result {
        let mut metric = self.metric(name, help, None, MetricType::Counter)?;
        for (value, total) in totals {
            let labels = [(label, value)];
            let mut one = metric.encode_family(&labels)?;
            one.encode_counter::<NoLabelSet, _, u64>(&total, None)?;
        }
        Ok(())
    }

    fn gauge(&mut self, name: &str, help: &str, value: usize) -> fmt::Result {
        self.gauge_in(name, help, None, value)
    }

    fn gauge_in(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        value: usize,
    ) -> fmt::Result {
        let mut metric = self.metric(name, help, unit, MetricType::Gauge)?;
        metric.encode_gauge(&signed(value))
    }

    fn gauges<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl Iterator<Item = (&'a str, usize)>,
    ) -> fmt::Result {
        let mut metric = self.metric(name, help, None, MetricType::Gauge)?;
        for (of, value) in values {
            let labels = [(label, of)];
            metric
                .encode_family(&labels)?
                .encode_gauge(&signed(value))?;
        }
        Ok(())
    }

    /// Writes a histogram of job sizes; `sum` is the number of proofs in all jobs together.
    fn sizes(&mut self, name: &str, help: &str, sizes: &JobSizes, sum: u64) -> fmt::Result {
        let bounds = JobSizes::BOUNDS.iter().map(|bound| *bound as f64);
        let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(sizes.counts).collect();
        let count = sizes.counts.iter().sum();
        let mut metric = self.metric(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<NoLabelSet>(sum as f64, count, &buckets, None)
    }

    fn metric<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        unit: Option<&'s Unit>,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, unit, kind)
    }
}

/// Converts a gauge's value, because gauges are signed in the format.
fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
