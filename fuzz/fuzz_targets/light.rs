//! The light client among three service peers, whose pushes, refusals and pages follow from the input.
#![no_main]

use std::collections::VecDeque;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::{Reader, rng, until};
use undertone_gossip::Time;
use undertone_message::WakuMessage;
use undertone_services::history::{HistoryData, HistoryEntry, HistoryPage, StoredMessage};
use undertone_services::light::{
    Input, LightClient, LightConfig, Output, ServicePeer, ServicePeerFailure, Services,
};
use undertone_services::trust::Standing;
use undertone_services::{PeerNo, RequestNo};

const TOPICS: [&str; 2] = ["/waku/2/rs/1/0", "/waku/2/rs/1/1"];
const START_NS: u64 = 1_700_000_000_000_000_000;
const FAILURES: [ServicePeerFailure; 4] = [
    ServicePeerFailure::NoAnswer,
    ServicePeerFailure::NoSubscription,
    ServicePeerFailure::Refused,
    ServicePeerFailure::Busy { retry_after: None },
];

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut driver = Driver {
        client: LightClient::new(LightConfig::default(), START_NS, rng()),
        now: Time::ZERO,
        filters: VecDeque::new(),
        pages: VecDeque::new(),
    };
    while !reader.is_empty() {
        if let Some(input) = driver.next(&mut reader) {
            driver.give(input);
        }
    }
});

struct Driver {
    client: LightClient,
    now: Time,
    filters: VecDeque<RequestNo>,
    pages: VecDeque<RequestNo>,
}

impl Driver {
    fn next(&mut self, reader: &mut Reader<'_>) -> Option<Input> {
        let kind = reader.byte();
        let peer = PeerNo(u64::from(reader.byte() % 3));
        let pubsub_topic = Arc::from(reader.one_of(&TOPICS));
        let content_topics = vec!["/a/1/b/proto".into()];
        Some(match kind % 12 {
            0 => Input::PeerFound(ServicePeer {
                peer,
                services: Services {
                    filter: true,
                    lightpush: false,
                    store: reader.byte() % 2 == 0,
                },
                pubsub_topics: None,
                filters_all: false,
                standing: Standing::Known,
                network: None,
            }),
            1 => Input::PeerLost(peer),
            2 => Input::Connected(peer),
            3 => Input::Disconnected(peer),
            4 => Input::ConnectFailed(peer),
            5 => Input::Subscribe {
                pubsub_topic,
                content_topics,
                since_ns: None,
            },
            6 => Input::Unsubscribe {
                pubsub_topic,
                content_topics,
            },
            7 => Input::FilterAnswer {
                request: self.filters.pop_front()?,
                answer: match reader.byte() % 2 {
                    0 => Ok(()),
                    _ => Err(reader.one_of(&FAILURES)),
                },
            },
            8 => Input::HistoryAnswer {
                request: self.pages.pop_front()?,
                answer: match reader.byte() % 4 {
                    0 => Err(reader.one_of(&FAILURES)),
                    _ => Ok(self.page(reader)),
                },
            },
            9 | 10 => Input::Pushed {
                peer,
                pubsub_topic,
                message: self.message(reader),
            },
            _ => {
                let (mut now, end) = (self.now, self.now.after(reader.time()));
                let next = |driver: &Self| driver.client.next_timeout();
                until(self, &mut now, end, next, |driver, now| {
                    driver.now = now;
                    driver.give(Input::Tick);
                });
                return None;
            }
        })
    }

    fn message(&self, reader: &mut Reader<'_>) -> WakuMessage {
        let topic = reader.one_of(&["/a/1/b/proto", "/c/1/d/proto"]);
        let mut message = WakuMessage::new(reader.bytes(), topic);
        let off_ns = u64::from(reader.byte()) << 34;
        message.timestamp = Some((START_NS + self.now.as_nanos() - off_ns).cast_signed());
        message
    }

    fn page(&self, reader: &mut Reader<'_>) -> HistoryPage {
        let mut page = HistoryPage::default();
        for _ in 0..reader.byte() % 4 {
            let stored = StoredMessage::new(reader.one_of(&TOPICS), self.message(reader));
            let data = HistoryData {
                pubsub_topic: stored.pubsub_topic,
                message: stored.message,
            };
            page.entries.push(HistoryEntry {
                hash: stored.hash,
                data: (reader.byte() % 2 == 0).then_some(data),
            });
        }
        let last = page.entries.last().map(|entry| entry.hash);
        page.next = last.filter(|_| reader.byte() % 2 == 0);
        page
    }

    fn give(&mut self, input: Input) {
        self.client.handle(self.now, input);
        while let Some(output) = self.client.poll() {
            match output {
                Output::Filter { request, .. } => self.filters.push_back(request),
                Output::History { request, .. } => self.pages.push_back(request),
                _ => {}
            }
        }
    }
}
