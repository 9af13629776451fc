//! Simulated service peers: their faults, and how they answer filter and store requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::{MessageHash, WakuMessage};

use super::super::super::{Input, LightFilterRequest, ServicePeerFailure, Services};
use super::{SHARD, World};
use crate::history::{HistoryCriteria, HistoryData, HistoryEntry, HistoryPage, HistoryQuery};
use crate::{PeerNo, RequestNo};

const SUBSCRIPTION_TTL: Duration = Duration::from_secs(300);

/// Fault of a service peer, or of the client's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Trouble {
    /// The peer is gone, and the connection with it; it forgets its subscriptions.
    Vanished,
    /// The peer is gone, but the client's connection looks alive.
    Hangs,
    /// The peer answers, but pushes nothing.
    Asleep,
    /// The peer forgets its subscriptions at the beginning.
    Forgets,
    /// The peer pushes messages that nobody asked for.
    Lies,
    /// The peer answers 429.
    Limits,
    /// The peer answers after 15 seconds.
    Late,
    /// The store lists hashes of messages that do not exist.
    Hollow,
    /// The store sends other messages than those asked for.
    Forges,
    /// The client's machine sleeps; the peer does not matter.
    Suspended,
}

/// Trouble of a peer for a time.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Episode {
    pub(in super::super) peer: usize,
    pub(in super::super) trouble: Trouble,
    pub(in super::super) from_s: u64,
    pub(in super::super) len_s: u64,
}

/// Simulated service peer: its faults, its filter subscriptions, and its archive.
#[derive(Debug, Default)]
pub(in super::super) struct Server {
    pub(in super::super) services: Services,
    pub(super) is_connected: bool,
    pub(super) troubles: Vec<Trouble>,
    pub(super) subscriptions: BTreeMap<(Arc<str>, Arc<str>), Time>,
    pub(in super::super) archive: BTreeMap<(i64, MessageHash), WakuMessage>,
    pub(in super::super) requests: usize,
    pub(in super::super) pages_with_data: usize,
}

impl Server {
    pub(in super::super) fn has(&self, trouble: Trouble) -> bool {
        self.troubles.contains(&trouble)
    }

    pub(super) fn is_reachable(&self) -> bool {
        !self.has(Trouble::Vanished) && !self.has(Trouble::Hangs)
    }

    fn page(&self, query: &HistoryQuery) -> HistoryPage {
        let matches =
            |(timestamp, hash): &(i64, MessageHash), message: &WakuMessage| match &query.criteria {
                HistoryCriteria::Hashes(hashes) => hashes.contains(hash),
                HistoryCriteria::Content(content) => {
                    content.content_topics.contains(&message.content_topic)
                        && content.start_ns.is_none_or(|start| *timestamp >= start)
                        && content.end_ns.is_none_or(|end| *timestamp <= end)
                }
            };
        let mut entries: Vec<HistoryEntry> = self
            .archive
            .iter()
            .filter(|(key, message)| matches(key, message))
            .map(|((_, hash), message)| HistoryEntry {
                hash: *hash,
                data: query.include_data.then(|| HistoryData {
                    pubsub_topic: SHARD.into(),
                    message: message.clone(),
                }),
            })
            .collect();
        if self.has(Trouble::Forges) {
            for data in entries.iter_mut().filter_map(|entry| entry.data.as_mut()) {
                data.message.payload = bytes::Bytes::from_static(b"forged");
            }
        }
        if self.has(Trouble::Hollow) && !query.include_data {
            entries.extend((0..3).map(|n| HistoryEntry {
                hash: MessageHash([n; 32]),
                data: None,
            }));
        }
        if let Some(cursor) = query.cursor {
            let behind = entries.iter().position(|entry| entry.hash == cursor);
            entries.drain(..behind.map_or(0, |at| at + 1));
        }
        let has_more = entries.len() > query.limit as usize;
        entries.truncate(query.limit as usize);
        let next = entries.last().filter(|_| has_more).map(|entry| entry.hash);
        HistoryPage { entries, next }
    }
}

impl World {
    fn limited(&self, server: usize) -> Option<ServicePeerFailure> {
        let retry_after = Some(Duration::from_secs(30));
        self.servers[server]
            .has(Trouble::Limits)
            .then_some(ServicePeerFailure::Busy { retry_after })
    }

    /// Whether a request reaches a server. A server that is back knows nothing of a former connection,
    /// which the client's side learns when it uses it.
    fn is_open(&mut self, at: usize) -> bool {
        let server = &self.servers[at];
        let (is_reachable, is_connected) = (server.is_reachable(), server.is_connected);
        if is_reachable && !is_connected {
            self.schedule_soon(Input::Disconnected(PeerNo(at as u64)));
        }
        is_reachable && is_connected
    }

    pub(super) fn serve_filter(&mut self, at: usize, request: RequestNo, body: LightFilterRequest) {
        let limited = self.limited(at);
        if !self.is_open(at) {
            return;
        }
        let server = &mut self.servers[at];
        server.requests += 1;
        let now = self.now;
        let until = now.after(SUBSCRIPTION_TTL);
        server.subscriptions.retain(|_, until| *until > now);
        let answer = match (limited, body) {
            (Some(failure), _) => Err(failure),
            (None, LightFilterRequest::Ping) if server.subscriptions.is_empty() => {
                Err(ServicePeerFailure::NoSubscription)
            }
            (None, LightFilterRequest::Ping) => {
                server.subscriptions.values_mut().for_each(|u| *u = until);
                Ok(())
            }
            (
                None,
                LightFilterRequest::Subscribe {
                    pubsub_topic,
                    content_topics,
                },
            ) => {
                for content in content_topics {
                    let criterion = (pubsub_topic.clone(), content);
                    server.subscriptions.insert(criterion, until);
                }
                Ok(())
            }
            (
                None,
                LightFilterRequest::Unsubscribe {
                    pubsub_topic,
                    content_topics,
                },
            ) => {
                for content in content_topics {
                    server
                        .subscriptions
                        .remove(&(pubsub_topic.clone(), content));
                }
                Ok(())
            }
            (None, LightFilterRequest::UnsubscribeAll) => {
                server.subscriptions.clear();
                Ok(())
            }
        };
        self.answer(at, Input::FilterAnswer { request, answer });
    }

    pub(super) fn serve_history(&mut self, at: usize, request: RequestNo, query: HistoryQuery) {
        let limited = self.limited(at);
        if !self.is_open(at) {
            return;
        }
        let server = &mut self.servers[at];
        server.requests += 1;
        server.pages_with_data += usize::from(query.include_data);
        let answer = match limited {
            Some(failure) => Err(failure),
            None => Ok(server.page(&query)),
        };
        self.answer(at, Input::HistoryAnswer { request, answer });
    }
}
