//! Measures the traffic of idle discv5 nodes in one process: `idle_traffic [NODES] [SETTLE_S] [MEASURED_S]`, such as
//! `idle_traffic 100 120 600`. Counts bytes of UDP payloads.

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use discv5::Discv5;
use enr::{CombinedKey, Enr};
use tokio::time::sleep;
use undertone_discovery::discv5::{Discv5Config, Discv5Service, bind};
use undertone_discovery::record::WakuRecord;

/// Pause between the starts of two nodes.
const START_PAUSE: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let mut number = |default| numbers.next().unwrap_or(Ok(default));
    let (nodes, settle_s, measured_s) = (number(100)?, number(120)?, number(600)?);
    let mut first = None;
    let mut services = Vec::new();
    for n in 0..nodes {
        let (service, record) = start(n, first.iter().cloned().collect()).await?;
        services.push(service);
        first.get_or_insert(record);
        sleep(START_PAUSE).await;
    }
    eprintln!("{nodes} nodes started; measuring begins in {settle_s} s");
    sleep(Duration::from_secs(settle_s)).await;
    // The library's counters cover all services of a process together.
    let before = Discv5::metrics();
    let (sent, received) = (before.bytes_sent, before.bytes_recv);
    sleep(Duration::from_secs(measured_s)).await;
    let after = Discv5::metrics();
    let each = |bytes: usize| bytes as f64 / (nodes * measured_s).max(1) as f64;
    let known = services
        .iter()
        .map(|service| service.known().borrow().len());
    println!("nodes {nodes}, measured for {measured_s} s after {settle_s} s");
    println!(
        "sent by a node      {:8.1} bytes/s",
        each(after.bytes_sent - sent)
    );
    println!(
        "received by a node  {:8.1} bytes/s",
        each(after.bytes_recv - received)
    );
    println!(
        "known to a node     {:8.1} others",
        known.sum::<usize>() as f64 / nodes.max(1) as f64
    );
    Ok(())
}

/// Starts a node on loopback, and returns its record.
async fn start(
    number: u64,
    bootstrap: Vec<WakuRecord>,
) -> Result<(Discv5Service, WakuRecord), Box<dyn Error>> {
    let mut secret = [1; 32];
    secret[24..].copy_from_slice(&number.to_be_bytes());
    let sockets = bind(&[Ipv4Addr::LOCALHOST.into()], 0)?;
    let port = sockets.ports().v4.unwrap_or_default();
    let key = CombinedKey::secp256k1_from_bytes(&mut secret.clone())
        .map_err(|error| error.to_string())?;
    let record = Enr::builder()
        .ip4(Ipv4Addr::LOCALHOST)
        .udp4(port)
        .tcp4(port)
        .add_value("waku2", &[1u8].as_slice())
        .add_value("rs", &[0, 66, 1, 0, 0].as_slice())
        .build(&key)
        .map_err(|error| error.to_string())?
        .to_base64();
    let config = Discv5Config {
        secret,
        record: record.clone(),
        sockets,
        bootstrap,
        cluster: 66,
        shards: vec![0],
        allows_private: true,
    };
    let (service, mut offers) = Discv5Service::start(config).await?;
    tokio::spawn(async move { while offers.recv().await.is_some() {} });
    Ok((service, WakuRecord::parse(&record)?))
}
