use std::future::Future;

use tokio::task::JoinHandle;

/// Background tasks of an attack; a drop ends the attack.
#[derive(Debug, Default)]
pub struct Tasks(Vec<JoinHandle<()>>);

impl Tasks {
    /// Starts one more task.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
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
