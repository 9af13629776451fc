//! The first thread of a process: it decides about windows and exchanges letters with other ranks.

use std::ops::ControlFlow;

use undertone_wire::put_varint;

use crate::layout::Layout;
use crate::outcome::Progress;
use crate::ranks::note::Note;
use crate::ranks::reader::{LetterReader, Unreadable};
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
        let mut note = self.sync.note();
        note.stopped_ns = self.stopped_ns;
        let all = match self.exchange(note) {
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
    fn exchange(&mut self, own: Note) -> Result<Note, RankError> {
        let Some((ranks, layout)) = &mut self.ranks else {
            return Ok(own);
        };
        let me = ranks.rank();
        let letters = (0..ranks.count()).map(|to| {
            let mut letter = Vec::new();
            if to == me {
                return letter;
            }
            own.write(&mut letter);
            for thread in layout.threads_of(to) {
                for section in self.sync.sections_to(thread) {
                    put_varint(&mut letter, section.len() as u64);
                    letter.extend_from_slice(&section);
                }
            }
            letter
        });
        let received = ranks.exchange(letters.collect())?;
        if let Some((rank, Unreadable(what))) = self.sync.unreadable() {
            return Err(RankError::Malformed { rank, what });
        }
        let mut all = own;
        for (from, letter) in received.iter().enumerate() {
            if from == me {
                continue;
            }
            let malformed = |Unreadable(what)| RankError::Malformed { rank: from, what };
            let note = read(self.sync, layout, from, letter).map_err(malformed)?;
            if note.has_failed && !own.has_failed {
                return Err(RankError::Failed { rank: from });
            }
            all = all.and(note);
        }
        Ok(all)
    }
}

/// Reads a rank's letter: its note, then for each thread here a section from each thread there.
fn read(sync: &SyncPoint, layout: &Layout, from: usize, letter: &[u8]) -> Result<Note, Unreadable> {
    let mut reader = LetterReader::new(letter);
    let note = Note::read(&mut reader)?;
    for thread in 0..layout.threads() {
        for _ in layout.threads_of(from) {
            let section = reader.bytes("section of a letter")?;
            if !section.is_empty() {
                sync.receive(thread, from, section);
            }
        }
    }
    match reader.is_empty() {
        true => Ok(note),
        false => Err(Unreadable("bytes after the sections")),
    }
}
