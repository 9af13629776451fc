use std::thread;

use rustix::process::getpriority_process;

use super::*;

#[test]
fn only_the_thread_that_asks_is_lowered() {
    let before = getpriority_process(None).unwrap();
    let of_the_thread = thread::spawn(|| {
        lower();
        getpriority_process(None).unwrap()
    });
    assert_eq!(of_the_thread.join().unwrap(), 19);
    assert_eq!(getpriority_process(None).unwrap(), before);
}
