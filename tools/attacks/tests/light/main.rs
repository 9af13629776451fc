//! Light nodes on service nodes that are killed and suspended, and on peers that lie; all of them processes or raw peers
//! on real TCP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use undertone_attacks::light::{
    CONTENT_TOPIC, CampaignPlan, LightTestNetwork, SendEnd, SentMessages, StagePlan,
};
use undertone_attacks::node;
use undertone_attacks::raw::Lie;

/// Guards against hangs only.
const PATIENCE: Duration = Duration::from_secs(240);

/// Path of the nodes' program.
fn program() -> PathBuf {
    let program = node::program(Path::new(env!("CARGO_BIN_EXE_hostile")));
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build --package undertone`, or run `cargo xtask test --only hostile`",
        program.display()
    );
    program
}

/// Waits until the stores hold a number of messages, and the light node was given all of them, each once.
async fn all_once(stage: &LightTestNetwork, count: usize) {
    let waiting = async {
        while stage.held().await.len() < count {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let kept = tokio::time::timeout(PATIENCE, waiting).await;
    assert!(kept.is_ok(), "the stores do not hold {count} messages");
    let missing = stage.missing(PATIENCE).await;
    assert!(
        missing.is_empty(),
        "{missing:?}: {}",
        stage.light.state().await
    );
    let counts = stage.events.counts();
    assert!(counts.values().all(|n| *n == 1), "{counts:?}");
}

#[tokio::test]
async fn what_a_dead_and_a_suspended_filter_peer_do_not_push_arrives_once() {
    let mut stage = LightTestNetwork::start(&program(), StagePlan::HONEST)
        .await
        .unwrap();
    assert!(stage.publish(0, "all are well").await);
    all_once(&stage, 1).await;

    stage.services[0].kill().await;
    stage.wait_mesh(&[1, 2]).await;
    assert!(stage.publish(1, "one is dead").await);
    stage.services[2].suspend();
    assert!(stage.publish(1, "one more is suspended").await);
    // Nobody is left to push it: the light node knows it from a store when its filter peers are back.
    stage.services[1].suspend();
    stage.services[2].resume();
    assert!(stage.publish(2, "another is suspended").await);
    stage.services[1].resume();
    stage.services[0].launch().await.unwrap();
    all_once(&stage, 4).await;
}

#[tokio::test]
async fn what_the_light_node_sends_while_peers_die_is_stored() {
    let mut stage = LightTestNetwork::start(&program(), StagePlan::HONEST)
        .await
        .unwrap();
    let mut sent = SentMessages::default();
    sent.send(&stage.light, CONTENT_TOPIC, "all are well").await;
    stage.services[0].kill().await;
    sent.send(&stage.light, CONTENT_TOPIC, "one is dead").await;
    stage.services[1].suspend();
    sent.send(&stage.light, CONTENT_TOPIC, "one more is suspended")
        .await;
    // Nobody is left to take it.
    stage.services[2].suspend();
    sent.send(&stage.light, CONTENT_TOPIC, "another is suspended")
        .await;
    stage.services[1].resume();
    stage.services[2].resume();
    stage.services[0].launch().await.unwrap();
    assert_eq!(sent.accepted(), 4, "{sent}");
    sent.wait_ends(&stage.light, PATIENCE).await;
    assert_eq!(sent.complaint(&stage.held().await), None, "{sent}");
    let is_stored = |end: &SendEnd| matches!(end, SendEnd::Stored(_));
    assert!(sent.ends().all(is_stored), "{sent}");
    all_once(&stage, 4).await;
}

#[tokio::test]
async fn what_was_sent_while_the_light_node_slept_arrives_once() {
    let stage = LightTestNetwork::start(&program(), StagePlan::HONEST)
        .await
        .unwrap();
    assert!(stage.publish(0, "before").await);
    all_once(&stage, 1).await;
    stage.light.suspend();
    for number in 0..20 {
        assert!(stage.publish(number % 3, &format!("asleep {number}")).await);
    }
    // Longer than service nodes wait for a peer that does not answer a ping.
    tokio::time::sleep(Duration::from_secs(45)).await;
    assert!(stage.publish(1, "still asleep").await);
    stage.light.resume();
    all_once(&stage, 22).await;
}

#[tokio::test]
async fn peers_that_lie_are_found_out_and_cost_no_message() {
    // Two of three filter peers hold the subscription, whichever connect first, and each liar that is found out gives
    // way to the other. With more honest ones, the liars might never be asked.
    let plan = StagePlan {
        lies: &[Lie::Silence, Lie::Noise],
        honest: 1,
    };
    let stage = LightTestNetwork::start(&program(), plan).await.unwrap();
    let mut published = 0;
    // The silent one is found out by messages that others have, the other by what it pushes.
    let found_out = async {
        while !stage.liars.iter().all(|liar| stage.has_found_out(liar)) {
            assert!(
                stage
                    .publish(published % 3, &format!("message {published}"))
                    .await
            );
            published += 1;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let found_out = tokio::time::timeout(PATIENCE, found_out).await;
    assert!(found_out.is_ok(), "{}", stage.light.state().await);
    assert!(stage.publish(0, "the last").await);
    all_once(&stage, published + 1).await;
}

/// `UNDERTONE_LIGHT_SEED` and `UNDERTONE_LIGHT_S` replace seed and length in seconds. `UNDERTONE_LIGHT_LOSS` is the
/// percentage of packets that the network namespace loses, which `cargo xtask` made for it.
#[tokio::test]
#[ignore = "takes ten minutes; cargo xtask campaign --only light"]
async fn campaign_of_sleeps_deaths_and_lies() {
    let number = |name: &str, usual: u64| match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => usual,
    };
    let plan = CampaignPlan {
        seed: number("UNDERTONE_LIGHT_SEED", 1),
        length: Duration::from_secs(number("UNDERTONE_LIGHT_S", 600)),
    };
    let loss_percent = number("UNDERTONE_LIGHT_LOSS", 0);
    println!(
        "seed {}, {} s, {loss_percent} % of the packets lost",
        plan.seed,
        plan.length.as_secs()
    );
    let report = plan.run(&program()).await.unwrap();
    println!("{report}");
    assert_eq!((report.missing, report.twice), (0, 0), "seed {}", plan.seed);
    assert_eq!(report.sends_wrong, None, "seed {}", plan.seed);
    assert!(report.published > 0 && report.held > 0 && report.sent.accepted() > 0);
    // Acknowledgements are not sent again, and requests over REST lose nothing.
    let least = report.segments.sent * loss_percent / 100 / 10;
    let has_loss = loss_percent == 0 || report.segments.again > least;
    assert!(has_loss, "packets were not lost: {}", report.segments);
}
