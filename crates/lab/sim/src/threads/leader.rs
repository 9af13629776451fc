//! The first thread of a process: it decides about windows and exchanges messages with other ranks.

use std::ops::ControlFlow;

use undertone_wire::put_varint;

use crate::layout::Layout;
use crate::outcome::Progress;
use crate::ranks::header::Header;
use crate::ranks::reader::{MessageReader, Unreadable};
use crate::ranks::{RankError, Ranks};
use crate::threads::OnProgress;
use crate::threads::sync::{SyncPoint, Verdict};
use crate::world::World;

/// State of the first thread.
pub(super) struct Leader<'a> {
    world: &'a World,
    sync: &'a SyncPoint,
    ranks: Option<(&'a mut dyn Ranks, &'a Layout)>,
    progress: OnProgress<'a>,
    /// Time at which `progress` broke off; `u64::MAX` if it did not.
    stopped_ns: u64,
    /// Time at which all ranks stopped, if they did.
    ended: Result<Option<u64>, RankError>,
}

impl<'a> Leader<'a> {
    pub(super) fn new(
        world: &'a World,
        sync: &'a SyncPoint,
        ranks: Option<(&'a mut dyn Ranks, &'a Layout)>,
        progress: OnProgress<'a>,
    ) -> Self {
        Self {
            world,
            sync,
            ranks,
            progress,
            stopped_ns: u64::MAX,
            ended: Ok(None),
        }
    }

    /// Time at which the run was stopped, if it was.
    pub(super) fn ended(self) -> Result<Option<u64>, RankError> {
        self.ended
    }

    /// Exchanges with the other ranks while the other threads of this process wait.
    pub(super) fn meet(&mut self) -> Verdict {
        let mut header = self.sync.header();
        header.stopped_ns = self.stopped_ns;
        let all = match self.exchange(header) {
            Ok(all) => all,
            Err(error) => {
                self.ended = Err(error);
                return Verdict::Stop;
            }
        };
        if all.has_failed {
            return Verdict::Stop;
        }
        if all.stopped_ns < u64::MAX {
            self.ended = Ok(Some(all.stopped_ns));
            return Verdict::Stop;
        }
        let now = Progress {
            virtual_ns: all.next_ns.min(self.world.end_ns),
            end_ns: self.world.end_ns,
            events: all.events,
            deliveries: all.deliveries,
        };
        // At the end nothing is left to interrupt.
        if (self.progress)(now) == ControlFlow::Break(()) && now.virtual_ns < now.end_ns {
            self.stopped_ns = now.virtual_ns;
        }
        Verdict::Go {
            earliest_ns: now.virtual_ns,
        }
    }

    /// Exchanges events and notes with the other ranks; returns the combined state of all.
    fn exchange(&mut self, own: Header) -> Result<Header, RankError> {
        let Some((ranks, layout)) = &mut self.ranks else {
            return Ok(own);
        };
        let me = ranks.rank();
        let messages = (0..ranks.count()).map(|to| {
            let mut message = Vec::new();
            if to == me {
                return message;
            }
            own.write(&mut message);
            for thread in layout.threads_of(to) {
                for section in self.sync.sections_to(thread) {
                    put_varint(&mut message, section.len() as u64);
                    message.extend_from_slice(&section);
                }
            }
            message
        });
        let received = ranks.exchange(messages.collect())?;
        if let Some((rank, Unreadable(what))) = self.sync.unreadable() {
            return Err(RankError::Malformed { rank, what });
        }
        let mut all = own;
        for (from, message) in received.iter().enumerate() {
            if from == me {
                continue;
            }
            let malformed = |Unreadable(what)| RankError::Malformed { rank: from, what };
            let header = read(self.sync, layout, from, message).map_err(malformed)?;
            if header.has_failed && !own.has_failed {
                return Err(RankError::Failed { rank: from });
            }
            all = all.and(header);
        }
        Ok(all)
    }
}

/// Reads a rank's message: its header, then for each thread here a section from each thread there.
fn read(
    sync: &SyncPoint,
    layout: &Layout,
    from: usize,
    message: &[u8],
) -> Result<Header, Unreadable> {
    let mut reader = MessageReader::new(message);
    let header = Header::read(&mut reader)?;
    for thread in 0..layout.threads() {
        for _ in layout.threads_of(from) {
            let section = reader.bytes("section of a message")?;
            if !section.is_empty() {
                sync.receive(thread, from, section);
            }
        }
    }
    match reader.is_empty() {
        true => Ok(header),
        false => Err(Unreadable("bytes after the sections")),
    }
}
