use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Instant;

use undertone_conformance::payload;
use undertone_conformance::protocol::{Event, REPORT_DELAY, Ready, Reply};
use undertone_node::handle::{Delivery, MessageSink};
use undertone_node_process::host::monotonic_ns;

/// Line waiting to be written.
enum Line {
    Ready(Ready),
    Reply(Reply),
    Delivered { delivery: Box<Delivery>, at_ns: u64 },
}

/// Sender of lines that never blocks. The queue is unbounded, because a driver always reads all output of its
/// peers.
#[derive(Clone)]
pub(crate) struct Output(Sender<Line>);

/// Starts a thread that writes the lines, so that the node waits neither for the pipe nor for the hash
/// of a message.
pub(crate) fn start() -> io::Result<(Output, thread::JoinHandle<io::Result<()>>)> {
    let (sender, lines) = channel();
    let writer = thread::Builder::new().name("stdout".into());
    let writer = writer.spawn(move || write_all(&lines))?;
    Ok((Output(sender), writer))
}

impl Output {
    pub(crate) fn ready(&self, ready: Ready) {
        self.push(Line::Ready(ready));
    }

    pub(crate) fn reply(&self, reply: Reply) {
        self.push(Line::Reply(reply));
    }

    fn push(&self, line: Line) {
        // The writer ends early only when the pipe is closed.
        let _ = self.0.send(line);
    }
}

impl MessageSink for Output {
    fn deliver(&self, delivery: &Delivery) -> bool {
        if delivery.from.is_some() {
            let at_ns = monotonic_ns();
            let delivery = Box::new(delivery.clone());
            self.push(Line::Delivered { delivery, at_ns });
        }
        true
    }
}

/// Writes all lines: deliveries after [`REPORT_DELAY`], everything else at once.
fn write_all(lines: &Receiver<Line>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let mut delivered = Vec::new();
    let mut due = None;
    loop {
        let line = match due {
            None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => {
                lines.recv_timeout(Instant::saturating_duration_since(&due, Instant::now()))
            }
        };
        match line {
            Ok(line @ Line::Delivered { .. }) => {
                due.get_or_insert_with(|| Instant::now() + REPORT_DELAY);
                delivered.push(line);
            }
            Ok(line) => {
                write_line(&mut out, line)?;
                out.flush()?;
            }
            Err(ended) => {
                due = None;
                for line in delivered.drain(..) {
                    write_line(&mut out, line)?;
                }
                out.flush()?;
                if ended == RecvTimeoutError::Disconnected {
                    return Ok(());
                }
            }
        }
    }
}

fn write_line(out: &mut impl Write, line: Line) -> io::Result<()> {
    match line {
        Line::Ready(ready) => serde_json::to_writer(&mut *out, &Event::Ready(ready))?,
        Line::Reply(reply) => serde_json::to_writer(&mut *out, &reply)?,
        Line::Delivered { delivery, at_ns } => {
            let Some(from) = delivery.from else {
                return Ok(());
            };
            let event = payload::delivery(
                delivery.pubsub_topic.to_string(),
                hex::encode(delivery.id.0),
                from.to_string(),
                &delivery.message.payload,
                at_ns,
            );
            serde_json::to_writer(&mut *out, &Event::Message(event))?;
        }
    }
    out.write_all(b"\n")
}
