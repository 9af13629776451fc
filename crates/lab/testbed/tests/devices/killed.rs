//! What is left when a process with a testbed is killed: nothing. The test runs itself a second
//! time as that process.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use undertone_link::packet::{HostConfig, LinkConfig, Path, Paths};
use undertone_testbed::{AddressPlan, Testbed, TestbedConfig, can_run};

/// Set for the process that is to be killed.
const VICTIM: &str = "UNDERTONE_TESTBED_VICTIM";

fn start() -> Testbed {
    if let Err(missing) = can_run() {
        panic!("no testbed on this machine: {missing}");
    }
    let config = TestbedConfig {
        hosts: vec![HostConfig::symmetric(LinkConfig::UNLIMITED)],
        paths: Paths::uniform(Path::constant(0)),
        addresses: AddressPlan::Private,
        congestion: None,
        slow_start_after_idle: true,
        seed: [0; 32],
    };
    Testbed::start(&config).expect("a testbed that can run starts")
}

/// A program that would run for long, in the first host.
fn sleeper(testbed: &Testbed) -> Child {
    let mut command = Command::new("sleep");
    command.arg("1000");
    testbed.hosts()[0]
        .launch(&command, None)
        .expect("util-linux is there")
}

#[test]
fn programs_end_with_a_killed_testbed() {
    if env::var_os(VICTIM).is_some() {
        let testbed = start();
        println!("\nsleeper {}", sleeper(&testbed).id());
        // Until the parent, which never writes, kills this process or is gone itself.
        let _ = std::io::stdin().read(&mut [0]).unwrap();
        return;
    }
    let name = "killed::programs_end_with_a_killed_testbed";
    let mut victim = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(VICTIM, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let sleeper = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("sleeper ")?.parse().ok())
        .and_then(Pid::from_raw)
        .expect("the victim says which process sleeps");
    let ends = pidfd_open(sleeper, PidfdFlags::empty()).unwrap();
    victim.kill().unwrap();
    victim.wait().unwrap();
    // A pidfd becomes readable when its process ends. A sleeper that lives on would be waited for
    // until the test is given up; it ends by itself after 1000 s.
    poll(&mut [PollFd::new(&ends, PollFlags::IN)], None).unwrap();
}

#[test]
fn programs_end_with_a_dropped_testbed() {
    let testbed = start();
    let mut sleeper = sleeper(&testbed);
    drop(testbed);
    let status = sleeper.wait().unwrap();
    assert!(!status.success(), "{status}");
}
