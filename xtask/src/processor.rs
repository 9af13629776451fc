//! Processor time of the commands that a step runs, and their priority.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Number of ticks per second in `/proc/PID/stat`: the same on every architecture that Rust supports,
/// whatever the kernel's own clock (proc_pid_stat(5), `USER_HZ`).
const TICKS_PER_S: u64 = 100;

/// Returns a command that runs a program at the lowest priority.
pub(crate) fn at_lowest_priority(program: impl AsRef<OsStr>) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(program);
    nice
}

/// Returns the processor time, user and system, of all commands that ended so far and of their own children; `None`
/// where the system has no `/proc`.
pub(crate) fn of_ended_commands() -> Option<Duration> {
    children_of(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Reads the processor time of ended children from the text of `/proc/PID/stat`.
fn children_of(stat: &str) -> Option<Duration> {
    // The name in parentheses may hold spaces and parentheses. After it come the fields from the third on;
    // `cutime` and `cstime` are the 16th and 17th.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks = user.saturating_add(system);
    Some(Duration::from_millis(
        ticks.saturating_mul(1000 / TICKS_PER_S),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_children_are_read_behind_a_name_with_parentheses() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194304 100 200 0 0 11 12 250 125 20 0 1 0 99";
        assert_eq!(children_of(stat), Some(Duration::from_millis(3_750)));
    }

    #[test]
    fn a_cut_text_has_no_time() {
        assert_eq!(children_of("7 (xtask) S 1 7"), None);
        assert_eq!(children_of(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_command_that_computed_is_counted_once_it_ended() {
        let before = of_ended_commands();
        let loops = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let ended = Command::new("sh").args(["-c", loops]).status();
        assert!(ended.is_ok_and(|status| status.success()));
        assert!(of_ended_commands() > before);
    }
}
