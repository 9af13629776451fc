//! A shard whose bandwidth is used up, beside one that has no limit.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};

use crate::support::{Place, ask, metrics_until};

/// Bandwidth of the limited shard, bytes per second; ten times as much may pass at once.
const RATE: u64 = 1_000;

const PAYLOAD: usize = 1_000;

fn topic(shard: u16) -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, shard).unwrap())
}

fn of(page: &BTreeMap<String, f64>, name: &str, shard: u16, more: &str) -> f64 {
    page[&format!("{name}{{topic=\"{}\"{more}}}", topic(shard))]
}

async fn publish(node: &Assembled, shard: u16, number: u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut payload = vec![0; PAYLOAD];
    payload[..8].copy_from_slice(&number.to_le_bytes());
    let message = WakuMessage {
        timestamp: Some(i64::try_from(now.as_nanos()).unwrap()),
        ..WakuMessage::new(payload, "/test/1/a/proto")
    };
    node.node
        .handle
        .publish(topic(shard), message)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_flooded_shard_takes_no_more_than_its_bandwidth_and_nothing_from_another() {
    let (loud, limited) = (Place::new(), Place::new());
    let loud = assemble(&loud.config(&[], &[("rln", "false")]))
        .await
        .unwrap();
    let address = loud.node.addresses[0].to_string();
    let limit = format!("0:{RATE}");
    let flags = [("rln", "false"), ("shard-bandwidth", limit.as_str())];
    let node = assemble(&limited.config(&[address], &flags)).await.unwrap();
    metrics_until(&loud, |page| {
        (0..2).all(|shard| of(page, "undertone_mesh_peers", shard, "") == 1.0)
    })
    .await;

    let begun = tokio::time::Instant::now();
    for number in 0..60 {
        publish(&loud, 0, number).await;
        if number % 3 == 0 {
            publish(&loud, 1, number).await;
        }
    }
    let page = metrics_until(&node, |page| {
        let all = page["waku_relay_total_msg_bytes_per_shard{shard=\"/waku/2/rs/66/1\"}"];
        let dropped = of(
            page,
            "undertone_shard_over_bandwidth_total",
            0,
            ",what=\"dropped\"",
        );
        all >= (20 * PAYLOAD) as f64 && dropped >= 1.0
    })
    .await;
    let passed_s = begun.elapsed().as_secs_f64();
    let taken = of(
        &page,
        "waku_relay_network_bytes_total",
        0,
        ",type=\"net\",direction=\"in\"",
    );
    // The burst, what it may be overdrawn by, and what has been earned meanwhile.
    let most = RATE as f64 * (20.0 + passed_s);
    assert!(
        (RATE as f64 * 9.0..most).contains(&taken),
        "{taken} of {most}"
    );
    let dropped = of(
        &page,
        "undertone_shard_over_bandwidth_total",
        1,
        ",what=\"dropped\"",
    );
    assert_eq!(dropped, 0.0);

    // An own message has to wait, and its sender is told for how long.
    let body = format!(
        r#"{{"payload":"{}","contentTopic":"/test/1/a/proto"}}"#,
        "A".repeat(400)
    );
    let path = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F0";
    let (status, answer) = ask(node.rest.unwrap(), "POST", path, &body).await;
    assert_eq!(status, 503, "{answer}");
    assert!(answer.contains("shard-bandwidth"), "{answer}");
    let elsewhere = path.replace("66%2F0", "66%2F1");
    let (status, answer) = ask(node.rest.unwrap(), "POST", &elsewhere, &body).await;
    assert_eq!(status, 200, "{answer}");

    // Who goes over it by mistake is no attacker: the connection stays, and later messages arrive.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let before = page["undertone_messages_delivered_total"];
    publish(&loud, 0, 1_000).await;
    metrics_until(&node, |page| {
        page["undertone_messages_delivered_total"] > before + 1.0
    })
    .await;
    node.stop().await;
    loud.stop().await;
}
