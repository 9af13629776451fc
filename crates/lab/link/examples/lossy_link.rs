//! Sends a frame of a megabyte over links of 10 Mbit/s with 50 ms of delay: first without loss, then with 1 %.
//!
//! `cargo run -p undertone-link --example lossy_link`

use std::collections::BTreeMap;
use std::error::Error;

use undertone_link::{ConnIx, Host, Input, Output, Priority, Profile, StackConfig};

const RATE_BYTES_PER_S: u64 = 1_250_000;
const DELAY_NS: u64 = 50_000_000;
/// Each host has one connection, to the other host.
const CONN: ConnIx = ConnIx(0);

fn main() -> Result<(), Box<dyn Error>> {
    let clean_ms = transfer_ms(0.0)?;
    let lossy_ms = transfer_ms(0.01)?;
    println!("1 MB in {clean_ms} ms without loss, in {lossy_ms} ms with 1 % of packets lost");
    // The bytes alone take 800 ms; delays, headers and the first small windows take the rest.
    assert!((850..2_000).contains(&clean_ms));
    assert!(lossy_ms > clean_ms);
    Ok(())
}

/// Time from writing the frame to its complete arrival, milliseconds.
fn transfer_ms(loss: f64) -> Result<u64, Box<dyn Error>> {
    let mut config = StackConfig::new(Profile::LINUX, RATE_BYTES_PER_S, RATE_BYTES_PER_S);
    config.loss = loss;
    let mut hosts = [Host::new(config, [1; 32]), Host::new(config, [2; 32])];
    for (host, remote) in [(0, 1), (1, 0)] {
        let connect = Input::Connect {
            conn: CONN,
            remote,
            remote_conn: CONN,
            delay_ns: DELAY_NS,
            reverse_delay_ns: DELAY_NS,
            loss: 0.0,
            sent_before: None,
        };
        hosts[host].handle(0, connect)?;
    }
    let write = Input::Write {
        conn: CONN,
        frame: "a megabyte",
        bytes: 1_000_000,
        priority: Priority::Normal,
    };
    // Inputs by time, with the host that gets them. The second number keeps simultaneous inputs in order.
    let mut inputs = BTreeMap::from([((0, 0), (0, write))]);
    let mut sent = 0;
    loop {
        // The next event is the first input or the first timer.
        let timer = hosts.iter().filter_map(Host::next_timeout).min();
        let input = inputs.first_key_value().map(|((at_ns, _), _)| *at_ns);
        let now_ns = timer
            .into_iter()
            .chain(input)
            .min()
            .ok_or("nothing is due")?;
        let (host, input) = match inputs.first_entry() {
            Some(first) if first.key().0 == now_ns => first.remove(),
            _ => {
                let due = |host: &Host<_>| host.next_timeout() == Some(now_ns);
                (
                    hosts.iter().position(due).ok_or("no timer is due")?,
                    Input::Tick,
                )
            }
        };
        hosts[host].handle(now_ns, input)?;
        while let Some(output) = hosts[host].poll() {
            match output {
                Output::Send { to, at_ns, arrival } => {
                    sent += 1;
                    inputs.insert((at_ns, sent), (to as usize, Input::Arrival(arrival)));
                }
                Output::Received { .. } => return Ok(now_ns / 1_000_000),
                Output::Begun { .. } | Output::Writable(_) => {}
            }
        }
    }
}
