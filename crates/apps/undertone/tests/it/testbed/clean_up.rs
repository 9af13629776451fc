//! What is left of a run that was killed: one folder, until the next run.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::testbed::support::testbed;

/// Network namespaces that processes or their threads are in.
fn namespaces() -> BTreeSet<PathBuf> {
    let threads = folders(Path::new("/proc"))
        .filter(|path| is_number(path))
        .flat_map(|process| folders(&process.join("task")).collect::<Vec<_>>());
    // A thread may end between its listing and the look.
    let namespace = |thread: PathBuf| fs::read_link(thread.join("ns/net")).ok();
    threads.filter_map(namespace).collect()
}

fn namespace_of(process: u32) -> PathBuf {
    fs::read_link(format!("/proc/{process}/ns/net")).expect("a node that runs is in one")
}

fn folders(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(path).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

fn is_number(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Processes below another one.
fn children(process: u32) -> Vec<u32> {
    let tasks = PathBuf::from(format!("/proc/{process}/task"));
    let threads = folders(&tasks);
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.join("children")).ok());
    let lists: Vec<_> = lists.collect();
    let numbers = lists.iter().flat_map(|list| list.split_whitespace());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

fn is_node(process: u32) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    line.windows(6).any(|window| window == b"\0node\0")
}

fn wait_for_end(process: u32) {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw);
    let ended = match pidfd_open(id.expect("an id of a process"), PidfdFlags::empty()) {
        Ok(ended) => ended,
        Err(error) if io::Error::from(error).kind() == io::ErrorKind::NotFound => return,
        Err(rustix::io::Errno::SRCH) => return,
        Err(error) => panic!("{error}"),
    };
    // A pidfd becomes readable when its process ends. One that lives on is waited for until the
    // test is given up.
    poll(&mut [PollFd::new(&ended, PollFlags::IN)], None)
        .expect("one descriptor, and no time limit");
}

#[test]
#[ignore = "needs network namespaces: cargo xtask test --only testbed"]
fn a_killed_run_leaves_one_folder_and_the_next_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = testbed(folder.path());
    // Long enough to be killed in the middle.
    command.args(["--set", "traffic.drain_s=600"]);
    command.stdout(Stdio::null());
    let mut victim = command.spawn().unwrap();
    let nodes = loop {
        let nodes: Vec<_> = children(victim.id())
            .into_iter()
            .filter(|id| is_node(*id))
            .collect();
        if nodes.len() == 3 {
            break nodes;
        }
        assert!(
            victim.try_wait().unwrap().is_none(),
            "the testbed ended before its nodes ran"
        );
        std::thread::yield_now();
    };
    let during: BTreeSet<_> = nodes.iter().copied().map(namespace_of).collect();
    assert_eq!(
        during.len(),
        3,
        "each node has a namespace of its own: {during:?}"
    );
    victim.kill().unwrap();
    victim.wait().unwrap();
    nodes.into_iter().for_each(wait_for_end);
    // Devices are in their namespaces, which go with the last thread in them.
    assert!(during.is_disjoint(&namespaces()));
    let base = folder.path().join("undertone-testbed");
    let left = || {
        let runs = folders(&base).filter(|path| path.is_dir());
        runs.collect::<Vec<_>>()
    };
    assert_eq!(left().len(), 1);
    let output = testbed(folder.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(left().is_empty(), "{:?}", left());
}
