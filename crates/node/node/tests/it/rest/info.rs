use std::time::{Duration, SystemTime};

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use undertone_gossip::Stats;
use undertone_membership::evm::{ChainStatus, EndpointCosts, Health, RpcCosts};
use undertone_node::command::{
    HealthStatus, JobSizes, MembershipSnapshot, ProofTotals, RlnSnapshot, TokenSnapshot,
    VerifierSnapshot,
};
use undertone_rln::{BatchPolicy, PoolConfig, PoolSnapshot};

use crate::rest::support::{Api, PEER_A, Script, answer_ok, config};

const UNKNOWN: &str = "Bad request initiated. Invalid path or method used.";

#[tokio::test]
async fn health_is_shown_part_by_part_and_shard_by_shard() {
    let expected = r#"{"nodeHealth":"READY","connectionStatus":"PartiallyConnected","#.to_owned()
        + r#""protocolsHealth":[{"Relay":"READY"},{"Store":"NOT_MOUNTED","desc":"not built"}],"#
        + r#""shardsHealth":[{"pubsubTopic":"/waku/2/rs/1/0","health":"READY","meshPeers":4,"subscribedPeers":9},"#
        + r#"{"pubsubTopic":"/waku/2/rs/1/1","health":"NOT_READY","meshPeers":0,"subscribedPeers":0,"#
        + r#""desc":"no connected peer relays it"}]}"#;
    let api = Api::start(Script::default());
    assert_eq!(api.get("/health").await, (StatusCode::OK, expected));
}

#[tokio::test]
async fn a_node_without_an_answer_is_not_healthy() {
    let api = Api::start(Script {
        health: None,
        ..Script::default()
    });
    let expected = (
        StatusCode::SERVICE_UNAVAILABLE,
        "Health check failed".into(),
    );
    assert_eq!(api.get("/health").await, expected);
}

#[tokio::test]
async fn readiness_is_a_status() {
    let ready = Script::default();
    let mut alone = ready.health.clone().unwrap();
    alone.protocols[0].status = HealthStatus::NotReady;
    alone.protocols[0].desc = Some("No connected peers".into());
    let api = Api::start(ready);
    assert_eq!(api.get("/readyz").await, (StatusCode::OK, "ready".into()));
    let api = Api::start(Script {
        health: Some(alone),
        ..Script::default()
    });
    let expected = (
        StatusCode::SERVICE_UNAVAILABLE,
        "Relay: No connected peers".into(),
    );
    assert_eq!(api.get("/readyz").await, expected);
    assert_eq!(api.get("/health").await.0, StatusCode::OK);
    let api = Api::start(Script {
        health: None,
        ..Script::default()
    });
    let expected = (
        StatusCode::SERVICE_UNAVAILABLE,
        "Health check failed".into(),
    );
    assert_eq!(api.get("/readyz").await, expected);
}

#[tokio::test]
async fn info_and_version_have_two_paths_each() {
    let api = Api::start(Script::default());
    let address = format!("/ip4/127.0.0.1/tcp/60000/p2p/{PEER_A}");
    let info = format!(r#"{{"listenAddresses":["{address}"],"reachable":"unknown"}}"#);
    for path in ["/info", "/debug/v1/info"] {
        assert_eq!(api.get(path).await, (StatusCode::OK, info.clone()));
    }
    for path in ["/version", "/debug/v1/version"] {
        assert_eq!(
            api.get(path).await,
            (StatusCode::OK, "undertone-test".into())
        );
    }
}

#[tokio::test]
async fn rate_limiting_is_shown_with_its_tokens() {
    let mut tokens = PoolSnapshot::default();
    tokens.ready = 8;
    tokens.prepared_total = 12;
    tokens.taken_total = 3;
    tokens.missed_total = 2;
    tokens.discarded_total = 1;
    tokens.spent_ns_total = 768_000_000;
    let mut policy = BatchPolicy::default();
    policy.max_batch = 32;
    policy.single_below = 4;
    policy.max_delay_ns = 10_000_000;
    policy.suspect_for_ns = 60_000_000_000;
    let snapshot = RlnSnapshot {
        may_publish: true,
        refusal: None,
        allowance: None,
        ids_taken_total: 0,
        tokens: Some(TokenSnapshot {
            config: PoolConfig::default(),
            state: tokens,
        }),
        proofs: ProofTotals::default(),
        verifier: VerifierSnapshot {
            threads: 1,
            policy,
            waiting: 5,
            suspects: 6,
            checked_total: 70,
            bad_total: 8,
            batches_total: 9,
            job_sizes: JobSizes::default(),
            last_took: Duration::ZERO,
        },
        membership: MembershipSnapshot::default(),
        chain: None,
    };
    let expected = concat!(
        r#"{"mayPublish":true,"refusal":null,"idsTakenTotal":0,"tokens":{"size":8,"refreshRoots":25,"leadMs":60000,"#,
        r#""maxCpuPercent":10,"ready":8,"preparedTotal":12,"takenTotal":3,"missedTotal":2,"#,
        r#""discardedTotal":1,"spentMsTotal":768},"verifier":{"threads":1,"batchFrom":4,"#,
        r#""batchMax":32,"batchMaxDelayMs":10,"suspectMs":60000,"waiting":5,"suspects":6,"#,
        r#""checkedTotal":70,"badTotal":8,"batchesTotal":9},"chain":null}"#,
    );
    let api = Api::start(Script {
        rln: Some(snapshot),
        ..Script::default()
    });
    let answer = api.get("/debug/v1/rln").await;
    assert_eq!(answer, (StatusCode::OK, expected.to_owned()));
    let off = Api::start(Script::default());
    let text = "Rate limiting is off. Please check your configuration: --rln";
    let answer = off.get("/debug/v1/rln").await;
    assert_eq!(answer, (StatusCode::NOT_FOUND, text.to_owned()));
}

#[tokio::test]
async fn gossip_shows_what_came_and_went() {
    let mut gossip = Stats::default();
    gossip.frames_received = 9;
    gossip.messages_received = 3;
    gossip.duplicates_received = 2;
    gossip.messages_sent = 4;
    gossip.sends_cancelled = 1;
    let api = Api::start(Script {
        gossip,
        ..Script::default()
    });
    let expected = concat!(
        r#"{"framesReceived":9,"firstCopiesReceived":3,"duplicatesReceived":2,"#,
        r#""copiesSent":4,"copiesCancelled":1,"copiesDropped":0}"#,
    );
    let answer = api.get("/debug/v1/gossip").await;
    assert_eq!(answer, (StatusCode::OK, expected.to_owned()));
}

#[tokio::test]
async fn an_unknown_path_or_method_is_not_found() {
    let unknown = || (StatusCode::NOT_FOUND, UNKNOWN.to_owned());
    let api = Api::start(Script::default());
    for path in [
        "/nope",
        "/relay/v1/nope",
        "/admin/v1/nope",
        "/relay/v1/subscriptions",
    ] {
        assert_eq!(api.get(path).await, unknown(), "{path}");
    }
    assert_eq!(api.post("/health", "{}").await, unknown());
    let head = Request::head("/info").body(Body::empty()).unwrap();
    assert_eq!(api.send(head).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_area_that_is_off_says_how_to_switch_it_on() {
    let mut off = config();
    (off.admin, off.relay) = (false, false);
    let api = Api::with_config(Script::default(), off);
    let not_found = |text: &str| (StatusCode::NOT_FOUND, text.to_owned());
    assert_eq!(
        api.get("/admin/v1/peers").await,
        not_found(
            "/admin endpoints are not available. Please check your configuration: --rest-admin=true"
        )
    );
    assert_eq!(
        api.post("/relay/v1/subscriptions", "[]").await,
        not_found("/relay endpoints are not available. Please check your configuration: --relay")
    );
    for area in ["filter", "lightpush", "store"] {
        let expected = not_found(&format!("/{area} endpoints are not available."));
        assert_eq!(api.get(&format!("/{area}/v1/x")).await, expected);
    }
}

#[tokio::test]
async fn options_on_relay_routes_are_answered() {
    let api = Api::start(Script::default());
    for path in [
        "/relay/v1/subscriptions",
        "/relay/v1/messages/x",
        "/relay/v1/auto/messages",
    ] {
        let request = Request::options(path).body(Body::empty()).unwrap();
        assert_eq!(api.send(request).await, answer_ok(), "{path}");
    }
    let request = Request::options("/health").body(Body::empty()).unwrap();
    let unknown = (StatusCode::NOT_FOUND, UNKNOWN.to_owned());
    assert_eq!(api.send(request).await, unknown);
}

#[tokio::test]
async fn a_chain_is_shown_with_its_endpoints() {
    let endpoint = |name: &str, requests, failures| EndpointCosts {
        name: name.to_owned(),
        requests,
        failures,
    };
    let compared = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
    let chain = ChainStatus {
        health: Health::Degraded {
            block: 70,
            since: compared,
            reason: "gone".to_owned(),
        },
        head: Some(72),
        costs: RpcCosts {
            requests: 9,
            failures: 4,
            sent_bytes: 100,
            received_bytes: 2_000,
        },
        endpoints: vec![endpoint("http://a", 8, 4), endpoint("http://a", 1, 0)],
        reorganisations: 3,
        compared: Some(compared),
    };
    let snapshot = RlnSnapshot {
        may_publish: false,
        refusal: None,
        allowance: None,
        ids_taken_total: 0,
        tokens: None,
        proofs: ProofTotals::default(),
        verifier: VerifierSnapshot {
            threads: 1,
            policy: BatchPolicy::default(),
            waiting: 0,
            suspects: 0,
            checked_total: 0,
            bad_total: 0,
            batches_total: 0,
            job_sizes: JobSizes::default(),
            last_took: Duration::ZERO,
        },
        membership: MembershipSnapshot::default(),
        chain: Some(chain),
    };
    let api = Api::start(Script {
        rln: Some(snapshot),
        ..Script::default()
    });
    let (status, body) = api.get("/debug/v1/rln").await;
    assert_eq!(status, StatusCode::OK);
    let mut body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let ago_ms = body["chain"]["comparedMsAgo"].take().as_u64();
    // This was written decades after that.
    assert!(ago_ms > Some(1_700_000_000_000), "{ago_ms:?}");
    let expected = serde_json::json!({
        "state": "degraded", "reason": "gone", "block": 70, "head": 72, "comparedMsAgo": null,
        "reorganisationsTotal": 3, "sentBytesTotal": 100, "receivedBytesTotal": 2000,
        "endpoints": [
            {"name": "http://a", "requestsTotal": 8, "failuresTotal": 4},
            {"name": "http://a", "requestsTotal": 1, "failuresTotal": 0},
        ],
    });
    assert_eq!(body["chain"], expected);
}
