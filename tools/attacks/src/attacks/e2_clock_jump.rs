//! Attack e2: the wall clock of a store jumps days ahead until time synchronisation corrects it. Meanwhile all its
//! messages are older than the two days for which it keeps them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt as _;
use tokio::process::Command;
use tokio::time::sleep;

use super::{Attack, Price};
use crate::node::wait_until;
use crate::test_network::{prefix, pubsub_topic};
use crate::{Counted, HostileError, StageOptions, Tasks, TestNetwork};

/// Source of the preloaded library that sets one process's clock ahead.
const SOURCE: &str = include_str!("e2_clock_jump/ahead.c");
/// Environment variable that names the library's file with the offset in seconds.
const VARIABLE: &str = "HOSTILE_CLOCK_AHEAD";
/// Number of messages in the victim's archive when its clock jumps.
const KEPT: usize = 20;
/// Size of the jump, seconds: a day more than the victim keeps messages.
const AHEAD_S: u64 = 3 * 86_400;
/// Time for which the clock is ahead: a node checks for old messages every 30 s.
const HELD: Duration = Duration::from_secs(40);
/// Time between the victim's second start and the first message.
const BACK: Duration = Duration::from_secs(5);
/// Time limit for the messages to reach the archive.
const STORED: Duration = Duration::from_secs(20);

/// Attack e2: a wall clock that jumps ahead.
pub const ATTACK: Attack = Attack {
    name: "e2-clock-jump",
    about: "the wall clock of a store that keeps messages for two days is three days ahead for 40 s",
    price: Price::Nothing,
    options: || StageOptions {
        victims_flags: &[
            "--store=true",
            "--store-message-retention-policy=time:172800",
        ],
        ..StageOptions::default()
    },
    start: |stage| start(stage).boxed(),
    then: |stage| kept(stage).boxed(),
};

/// Restarts the victim with a clock that can be set.
async fn start(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let library = compile(stage.folder()).await?;
    let seconds = seconds(stage.folder());
    set_ahead(&seconds, 0)?;
    stage.victim.set_variables(vec![
        ("LD_PRELOAD", library.into_os_string()),
        (VARIABLE, seconds.into_os_string()),
    ]);
    stage.victim.terminate().await;
    stage.victim.launch().await?;
    sleep(BACK).await;
    Ok(Tasks::default())
}

/// Fills the victim's archive, sets its clock ahead if possible, and counts the remaining messages.
async fn kept(stage: &mut TestNetwork) -> Result<Tasks, HostileError> {
    let (topic, content_topic) = (pubsub_topic(0), format!("{}/kept/proto", prefix(0)));
    for number in 0..KEPT {
        let payload = number.to_be_bytes();
        let publisher = &stage.honest[0];
        publisher.publish(&topic, &content_topic, &payload).await;
    }
    let victim = &stage.victim;
    let are_kept = wait_until(STORED, async || {
        history(stage, &content_topic).await == KEPT
    });
    if !are_kept.await {
        return Err(HostileError::Late {
            waiting_for: format!("message in the archive of {}", victim.state().await),
            deadline_s: STORED.as_secs(),
        });
    }
    let seconds = seconds(stage.folder());
    if seconds.exists() {
        set_ahead(&seconds, AHEAD_S)?;
        sleep(HELD).await;
        set_ahead(&seconds, 0)?;
    }
    let good = history(stage, &content_topic).await;
    stage.counted.push(Counted {
        what: "messages still in the archive",
        good,
        of: KEPT,
    });
    Ok(Tasks::default())
}

/// Returns the number of messages that the victim returns as history of a content topic.
async fn history(stage: &TestNetwork, content_topic: &str) -> usize {
    let topics = content_topic.replace('/', "%2F");
    let path = format!("/store/v3/messages?contentTopics={topics}&pageSize=100");
    match stage.victim.ask("GET", &path, None).await {
        Some((200, page)) => page.matches("messageHash").count(),
        _ => 0,
    }
}

/// Returns the path of the file with the clock's offset in seconds.
fn seconds(folder: &Path) -> PathBuf {
    folder.join("clock-ahead")
}

/// Sets the clock ahead. Replaces the file atomically, because the victim may read it at any time.
fn set_ahead(file: &Path, ahead_s: u64) -> Result<(), HostileError> {
    let new = file.with_extension("new");
    let written = fs::write(&new, ahead_s.to_string());
    let replaced = written.and_then(|()| fs::rename(&new, file));
    replaced.map_err(HostileError::io("cannot set the victim's clock"))
}

/// Compiles the library into a folder and returns its path.
async fn compile(folder: &Path) -> Result<PathBuf, HostileError> {
    let (source, library) = (folder.join("ahead.c"), folder.join("ahead.so"));
    fs::write(&source, SOURCE).map_err(HostileError::io("cannot write a library's source"))?;
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", "-o"]);
    let compiled = command.arg(&library).arg(&source).output().await;
    let detail = match compiled {
        Ok(output) if output.status.success() => return Ok(library),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    Err(HostileError::Compiler { detail })
}
