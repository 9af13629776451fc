//! Services of a node: their inputs and actions.

use undertone_gossip::{PeerIx, RequestId};
use undertone_link::{self as link, ConnIx, Priority};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_relay::{Input, PublishError, Published};
use undertone_services::RequestNo;
use undertone_services::lightpush::PublishRefusal;

use crate::light::LightEvent;
use crate::node::Node;
use crate::node::event::{Event, ServiceEvent, Step};
use crate::node::input::{UNCOUNTED, number_in};
use crate::services::io::{ServiceAction, ServiceInput};

/// Bit that marks the request numbers of messages published by the services.
const OF_SERVICE: u64 = 1 << 60;

impl Node {
    /// Whether a connection is that of a light client.
    pub(super) fn is_of_client(&self, conn: ConnIx) -> bool {
        let service = self.service.as_ref();
        service.is_some_and(|service| conn.0 >= service.machine.first_conn)
    }

    pub(super) fn client_of(&self, conn: ConnIx) -> Option<u32> {
        self.service.as_ref()?.machine.client_of(conn)
    }

    /// Handles the result of a dial to another store; other events are for light clients only.
    pub(super) fn store_dialled(&mut self, event: LightEvent) {
        match event {
            LightEvent::Accepted {
                node,
                conn,
                remote_conn,
            } => self.for_service(ServiceInput::Accepted {
                node,
                conn,
                remote_conn,
            }),
            LightEvent::Refused { conn } => self.for_service(ServiceInput::Refused(conn)),
            _ => {}
        }
    }

    /// Queues an event for the services, which handle it at the end of the step.
    pub(super) fn for_service(&mut self, input: ServiceInput) {
        if let Some(service) = &mut self.service {
            service.inbox.push_back(input);
        }
    }

    /// Passes the queued events to the services, and executes their actions.
    pub(super) fn serve(&mut self, step: &mut Step<'_>) {
        while let Some(service) = &mut self.service {
            if let Some(action) = service.machine.poll() {
                self.act(step, action);
            } else if let Some(input) = service.inbox.pop_front() {
                service.machine.handle(step.world, step.now_ns, input);
            } else {
                return;
            }
        }
    }

    fn act(&mut self, step: &mut Step<'_>, action: ServiceAction) {
        match action {
            ServiceAction::Open {
                client,
                conn,
                remote_conn,
            } => {
                self.connect_service(step, (client, conn, remote_conn), false);
                let accepted = LightEvent::Accepted {
                    node: self.id,
                    conn: remote_conn,
                    remote_conn: conn,
                };
                self.notify_client(step, client, Event::Light(accepted));
            }
            ServiceAction::Dial { peer, conn } => {
                let at_ns = step.now_ns + step.world.dial_ns(self.id, peer);
                let client = self.id;
                let dial = ServiceEvent::Dial { client, conn };
                self.schedule(step, at_ns, peer, Event::Service(dial));
            }
            ServiceAction::Connect {
                peer,
                conn,
                remote_conn,
            } => self.connect_service(step, (peer, conn, remote_conn), true),
            ServiceAction::Refuse {
                client,
                remote_conn,
            } => {
                let refused = LightEvent::Refused { conn: remote_conn };
                self.notify_client(step, client, Event::Light(refused));
            }
            ServiceAction::Close {
                client,
                conn,
                remote_conn,
            } => {
                self.forget_client(step, conn);
                self.notify_client(step, client, Event::Closed(remote_conn));
            }
            ServiceAction::Forget(conn) => self.forget_client(step, conn),
            ServiceAction::Write {
                conn,
                client,
                frame,
                bytes,
                is_push,
            } => {
                if !self.host.is_open(conn) {
                    return self.push_ended(is_push.then_some(client), false);
                }
                if let Some(service) = &mut self.service {
                    let waiting = service.waiting.entry(conn).or_default();
                    waiting.push_back((frame, bytes, is_push.then_some(client)));
                }
                self.write_to_client(step, conn);
            }
            ServiceAction::QueryUntil { query, at_ns } => {
                let queried = ServiceEvent::Queried(query);
                self.schedule_own(step, at_ns, Event::Service(queried));
            }
            ServiceAction::Publish {
                publish,
                topic,
                message,
            } => match PubsubTopic::parse_any(&topic) {
                Ok(topic) => {
                    let request = RequestId(OF_SERVICE | publish.0);
                    let input = Input::Publish {
                        topic,
                        message,
                        request,
                    };
                    self.relay_input(step, input);
                }
                Err(_) => {
                    let outcome = Err(PublishRefusal::UnsupportedTopic);
                    self.for_service(ServiceInput::Published { publish, outcome });
                }
            },
        }
    }

    /// Opens this end of a connection to a light client, or to another store.
    fn connect_service(
        &mut self,
        step: &mut Step<'_>,
        (remote, conn, remote_conn): (u32, ConnIx, ConnIx),
        is_dialler: bool,
    ) {
        let connect = link::Input::Connect {
            conn,
            remote,
            remote_conn,
            delay_ns: step.world.delay_ns(self.id, remote),
            reverse_delay_ns: step.world.delay_ns(remote, self.id),
            loss: step.world.loss(self.id, remote),
            sent_before: step.world.sent_before(is_dialler),
        };
        self.host_input(step, connect);
    }

    /// Schedules an event for a client, at the earliest time at which a packet can arrive there.
    fn notify_client(&mut self, step: &mut Step<'_>, client: u32, event: Event) {
        let at_ns = step.now_ns + step.world.delay_ns(self.id, client);
        self.schedule(step, at_ns, client, event);
    }

    fn forget_client(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        if let Some(service) = &mut self.service {
            service.waiting.remove(&conn);
        }
        if self.host.is_open(conn) {
            self.host_input(step, link::Input::Close(conn));
        }
    }

    fn push_ended(&mut self, client: Option<u32>, delivered: bool) {
        if let Some(client) = client {
            self.for_service(ServiceInput::Pushed { client, delivered });
        }
    }

    /// Writes the frames waiting for a client while its connection accepts them.
    pub(super) fn write_to_client(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        while self.host.is_open(conn) && self.host.is_writable(conn) {
            let Some(service) = &mut self.service else {
                return;
            };
            let Some(waiting) = service.waiting.get_mut(&conn) else {
                return;
            };
            let Some((frame, bytes, pushed_to)) = waiting.pop_front() else {
                service.waiting.remove(&conn);
                return;
            };
            let write = link::Input::Write {
                conn,
                frame,
                bytes,
                priority: Priority::Normal,
            };
            self.host_takes(step, write);
            self.push_ended(pushed_to, true);
        }
    }

    /// Passes a message that the relay found valid to the services.
    pub(super) fn feed_service(
        &mut self,
        step: &mut Step<'_>,
        topic: &PubsubTopic,
        message: &WakuMessage,
        is_own: bool,
    ) {
        let at = step.world.topics.iter().position(|known| known == topic);
        let Some(topic) = at.map(|at| step.world.shards[at].clone()) else {
            return;
        };
        let message = message.clone();
        // A client's message published through this node's relay has arrived at this node, too.
        let number = number_in(&message.payload);
        if is_own && number != UNCOUNTED {
            let publisher = step.world.messages[number as usize].publisher;
            if publisher >= step.world.scenario.nodes {
                self.counters.accepted += 1;
                self.delivered(step, &message.payload, (PeerIx(u32::MAX), publisher));
            }
        }
        self.for_service(ServiceInput::Message { topic, message });
    }

    /// Tells the services the result of publishing a message through the relay.
    pub(super) fn published(
        &mut self,
        request: RequestId,
        outcome: Result<Published, PublishError>,
    ) {
        if request.0 & OF_SERVICE == 0 {
            return;
        }
        let publish = RequestNo(request.0 ^ OF_SERVICE);
        let peers = |published: Published| u32::try_from(published.peers).unwrap_or(u32::MAX);
        let outcome = outcome.map(peers).map_err(|error| refusal(&error));
        self.for_service(ServiceInput::Published { publish, outcome });
    }

    /// Stops the services. Clients notice after `noticed_after_ns`.
    pub(super) fn stop_service(&mut self, step: &mut Step<'_>, noticed_after_ns: u64) {
        let Some(service) = &mut self.service else {
            return;
        };
        service.inbox.clear();
        service.waiting.clear();
        for (conn, client, remote_conn) in service.machine.stop() {
            if self.host.is_open(conn) {
                self.host_input(step, link::Input::Close(conn));
            }
            let soonest_ns = step.world.delay_ns(self.id, client);
            let at_ns = step.now_ns + noticed_after_ns.max(soonest_ns);
            self.schedule(step, at_ns, client, Event::Closed(remote_conn));
        }
    }
}

fn refusal(error: &PublishError) -> PublishRefusal {
    match error {
        PublishError::Duplicate => PublishRefusal::Duplicate,
        PublishError::TooLarge { max, .. } => PublishRefusal::TooLarge { max_bytes: *max },
        PublishError::NotSubscribed { .. } => PublishRefusal::UnsupportedTopic,
        PublishError::InvalidProof(_) => PublishRefusal::InvalidProof,
        PublishError::Proof(_) => PublishRefusal::NoProof,
        PublishError::Bandwidth { .. } => PublishRefusal::TimedOut,
        PublishError::Busy { .. } => PublishRefusal::Busy,
        PublishError::EmptyContentTopic
        | PublishError::MetaTooLong { .. }
        | PublishError::OtherShard { .. }
        | PublishError::Timestamp { .. } => PublishRefusal::InvalidMessage,
        _ => PublishRefusal::Failed,
    }
}
