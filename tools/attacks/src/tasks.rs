use std::future::Future;
use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Number of threads of all attacks in this process.
const THREADS: usize = 4;

/// Runtime of the attackers. On the threads of the honest users, thousands of busy attackers would delay those
/// users within this process, and the measurement would not be of the victim.
static ATTACKERS: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("attackers")
        .enable_all()
        .build()
        .expect("the system gives a process four more threads")
});

/// Background tasks of an attack; a drop ends the attack.
#[derive(Debug, Default)]
pub struct Tasks(Vec<JoinHandle<()>>);

impl Tasks {
    /// Starts one more task, on the attackers' threads.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.push(ATTACKERS.spawn(task));
    }

    /// Starts a task of an honest user, on the caller's runtime.
    pub fn spawn_honest(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.push(tokio::spawn(task));
    }

    /// Adds the tasks of another set to this one.
    pub fn join(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
