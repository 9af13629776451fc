//! Readings of the whole history by a client, page by page, with a reader that trusts no server.

use std::collections::BTreeSet;

use bytes::Bytes;
use undertone_services::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection};
use undertone_services::store::{HistoryReadError, HistoryReader, ReaderLimits};

use crate::light::LightEvent;
use crate::light::node::LightNode;
use crate::light::streams::{ANSWER_NS, Asker, OpenStream};
use crate::node::check::violated;
use crate::node::event::{Event, Step};
use crate::node::input::number_in;
use crate::services::frames::StreamService;

/// Delay before a page is requested again without a connection, nanoseconds.
const AGAIN_NS: u64 = 1_000_000_000;

/// A reading that has reached the end of history.
#[derive(Clone, Debug)]
pub(crate) struct FinishedReading {
    pub(crate) node: u32,
    pub(crate) started_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) pages: u32,
    pub(crate) messages: BTreeSet<u64>,
}

/// A client that reads the history repeatedly.
#[derive(Debug)]
pub(super) struct ReadingClient {
    every_ns: u64,
    page_size: u32,
    /// Number of readings begun.
    begun: u64,
    current: Option<CurrentReading>,
}

/// A reading in progress.
#[derive(Debug)]
struct CurrentReading {
    peer: usize,
    reader: HistoryReader,
    started_ns: u64,
    /// Time at which the pending request for a page is given up.
    until_ns: u64,
    is_asked: bool,
    pages: u32,
    messages: BTreeSet<u64>,
}

impl LightNode {
    pub(super) fn start_reading(&mut self, step: &mut Step<'_>) {
        let setup = step.world.scenario.services.as_ref();
        let Some((every_ns, page_size)) =
            setup.and_then(|setup| Some((setup.read_every_ns?, setup.page_size)))
        else {
            return;
        };
        self.reading = Some(Box::new(ReadingClient {
            every_ns,
            page_size,
            begun: 0,
            current: None,
        }));
        // Clients start to read at different times.
        let at_ns = step.now_ns + self.rng.below(every_ns);
        self.schedule_own(step, at_ns, Event::Light(LightEvent::Read));
    }

    /// Begins to read at the next peer, unless a reading is under way.
    pub(super) fn read(&mut self, step: &mut Step<'_>) {
        let peers = self.peers.len().max(1);
        let Some(reading) = &mut self.reading else {
            return;
        };
        let next_ns = step.now_ns + reading.every_ns.max(1);
        if reading.current.is_none() {
            let begun = reading.begun;
            reading.begun += 1;
            let query = HistoryQuery {
                include_data: true,
                criteria: HistoryCriteria::Content(ContentCriteria::default()),
                cursor: None,
                direction: match begun % 2 {
                    0 => PageDirection::Forward,
                    _ => PageDirection::Backward,
                },
                limit: reading.page_size,
            };
            reading.current = Some(CurrentReading {
                peer: begun as usize % peers,
                reader: HistoryReader::new(query, ReaderLimits::default()),
                started_ns: step.now_ns,
                until_ns: 0,
                is_asked: false,
                pages: 0,
                messages: BTreeSet::new(),
            });
        }
        self.schedule_own(step, next_ns, Event::Light(LightEvent::Read));
        self.read_on(step);
    }

    /// Requests the next page, or repeats the request for one that did not arrive.
    pub(super) fn read_on(&mut self, step: &mut Step<'_>) {
        let reading = self.reading.as_ref();
        let Some(current) = reading.and_then(|reading| reading.current.as_ref()) else {
            return;
        };
        if current.is_asked && current.until_ns > step.now_ns {
            return;
        }
        let peer = current.peer;
        // A late answer would be taken for that to the new request.
        self.streams.retain(|_, open| open.asker != Asker::Reading);
        let is_up = self.connect(step, peer);
        let wait_ns = if is_up { ANSWER_NS } else { AGAIN_NS };
        let until_ns = step.now_ns + wait_ns;
        self.schedule_own(step, until_ns, Event::Light(LightEvent::ReadOn));
        let reading = self.reading.as_mut();
        let Some(current) = reading.and_then(|reading| reading.current.as_mut()) else {
            return;
        };
        current.until_ns = until_ns;
        current.is_asked = is_up;
        let request_id = (current.pages + 1).to_string();
        if let Some(request) = current.reader.request(request_id)
            && is_up
        {
            let body = request.encode().into();
            self.ask(step, peer, Asker::Reading, StreamService::Store, body);
        }
    }

    pub(super) fn page_read(&mut self, step: &mut Step<'_>, open: &OpenStream, body: &Bytes) {
        let node = self.peers[open.peer].node;
        let reading = self.reading.as_mut();
        let Some(current) = reading.and_then(|reading| reading.current.as_mut()) else {
            return self.count_answer(step, open, false);
        };
        let request_id = (current.pages + 1).to_string();
        let page = current.reader.take(&request_id, body);
        current.is_asked = false;
        let mut again_ns = 0;
        let mut is_over = false;
        match page {
            Ok(page) => {
                current.pages += 1;
                let messages = page.entries.iter().filter_map(|entry| entry.data.as_ref());
                let numbers = messages.map(|data| number_in(&data.message.payload));
                current.messages.extend(numbers);
                if page.ended {
                    let finished = FinishedReading {
                        node,
                        started_ns: current.started_ns,
                        ended_ns: step.now_ns,
                        pages: current.pages,
                        messages: std::mem::take(&mut current.messages),
                    };
                    self.readings.push(finished);
                    is_over = true;
                }
                self.count_answer(step, open, false);
            }
            Err(HistoryReadError::Busy { .. }) => {
                again_ns = AGAIN_NS;
                self.count_answer(step, open, true);
            }
            Err(_) => {
                let setup = step.world.scenario.services.as_ref();
                let has_troubles = setup.is_some_and(|setup| !setup.troubles.is_empty());
                if !has_troubles {
                    let rule = "a page of history is true and repeats nothing";
                    violated(step.scratch, step.now_ns, self.id, rule);
                }
                is_over = true;
                self.count_answer(step, open, false);
            }
        }
        if is_over {
            if let Some(reading) = &mut self.reading {
                reading.current = None;
            }
        } else if again_ns > 0 {
            let at_ns = step.now_ns + again_ns;
            self.schedule_own(step, at_ns, Event::Light(LightEvent::ReadOn));
        } else {
            self.read_on(step);
        }
    }

    /// Gives up the pending page when its connection is lost; it is requested again.
    pub(super) fn reading_disconnected(&mut self, step: &mut Step<'_>, peer: usize) {
        let reading = self.reading.as_mut();
        if let Some(current) = reading.and_then(|reading| reading.current.as_mut())
            && current.peer == peer
        {
            current.is_asked = false;
            let at_ns = step.now_ns + AGAIN_NS;
            self.schedule_own(step, at_ns, Event::Light(LightEvent::ReadOn));
        }
    }
}
