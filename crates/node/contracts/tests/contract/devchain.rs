//! The development chain as a process: it answers, and ends with whoever started it.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use undertone_contracts::{DevChain, DevChainOptions};

/// Time after which a program that still answers is taken for one that has not ended.
const END_PATIENCE: Duration = Duration::from_secs(60);

/// Environment variable that tells this test's child process to start a chain and wait.
const CHILD: &str = "UNDERTONE_TEST_DEVCHAIN_CHILD";

#[tokio::test]
async fn a_chain_answers_has_keys_and_ends_when_it_is_dropped() {
    let options = DevChainOptions {
        accounts: 3,
        chain_id: 1234,
        ..DevChainOptions::default()
    };
    let chain = DevChain::start(&options).unwrap();
    assert_eq!(chain.keys().len(), 3);
    let id: String = chain.request("eth_chainId", ()).await.unwrap();
    assert_eq!(id, "0x4d2");
    let address = chain.endpoint().strip_prefix("http://").unwrap().to_owned();
    TcpStream::connect(&address).unwrap();
    drop(chain);
    await_refusal(&address);
}

#[test]
fn a_chain_ends_when_the_process_that_started_it_is_killed() {
    if env::var_os(CHILD).is_some() {
        let chain = DevChain::start(&DevChainOptions::default()).unwrap();
        println!("endpoint {}", chain.endpoint());
        loop {
            thread::park();
        }
    }
    let name = "devchain::a_chain_ends_when_the_process_that_started_it_is_killed";
    let mut parent = Command::new(env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let address = lines
        .map(Result::unwrap)
        .find_map(|line| Some(line.split_once("endpoint http://")?.1.to_owned()))
        .unwrap();
    TcpStream::connect(&address).unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    await_refusal(&address);
}

#[test]
fn an_error_names_what_the_program_said() {
    let options = DevChainOptions {
        block_time_s: Some(0),
        ..DevChainOptions::default()
    };
    let error = DevChain::start(&options).unwrap_err().to_string();
    assert!(error.contains("--block-time"), "{error}");
}

/// Waits until the port refuses connections: the only sign that a program which is not our child
/// has ended. The bound guards against one that does not.
fn await_refusal(address: &str) {
    let began = std::time::Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(began.elapsed() < END_PATIENCE, "{address} still answers");
        thread::yield_now();
    }
}
