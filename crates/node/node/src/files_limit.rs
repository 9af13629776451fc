//! Limit on open files of the process, sockets included.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit on open files to the hard limit, as servers with many connections do. Systems keep
/// the soft limit low for programs that use `select`, which this one does not. Call it before a node starts,
/// because nodes derive their number of connections from the limit.
///
/// Returns the limit afterwards; `None` stands for no limit.
pub fn raise_files_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if limit.current == limit.maximum || setrlimit(Resource::Nofile, raised).is_ok() {
        return limit.maximum;
    }
    limit.current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let before = getrlimit(Resource::Nofile);
        assert_eq!(raise_files_limit(), before.maximum);
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after.current, before.maximum);
        assert_eq!(after.maximum, before.maximum);
        assert_eq!(raise_files_limit(), before.maximum, "again");
    }
}
