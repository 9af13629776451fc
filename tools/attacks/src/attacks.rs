//! All attacks, one module each, named after their numbers.

use std::path::Path;

use futures::future::BoxFuture;

use super::{HostileError, StageOptions, Tasks, TestNetwork};

pub mod a1_restart;
pub mod a2_silent_connection;
pub mod a3_burst;
pub mod a4_crowd;
pub mod a5_made_up_roots;
pub mod b10_other_shard;
pub mod b11_junk;
pub mod b6_squatters;
pub mod b7_sockets;
pub mod b8_bad_proofs;
pub mod b9_credit;
pub mod c1_half_requests;
pub mod c2_malformed;
pub mod c3_unread_answers;
pub mod c4_unread_pushes;
pub mod c5_subscribers;
pub mod c6_floods;
pub mod c7_store_sync;
pub mod d1_rest;
pub mod e1_lying_services;
pub mod e2_clock_jump;
pub mod e3_forged_handshakes;
pub mod e4_lying_chain_endpoint;
pub mod e6_hole_punching_scan;

/// Resources that an attacker needs besides an Internet connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// At most one address; some of these events happen without an attacker.
    Nothing,
    /// This number of addresses.
    Addresses(u32),
}

/// Attack with everything needed to run it.
#[derive(Clone, Copy)]
pub struct Attack {
    /// Number and name of the attack, as in `--only`.
    pub name: &'static str,
    /// Description of the attack in one line.
    pub about: &'static str,
    /// Resources that the attacker needs.
    pub price: Price,
    /// Options of the honest network that is attacked.
    pub options: fn() -> StageOptions,
    /// Starts the attack, which continues until the tasks are dropped.
    pub start: Step,
    /// Further action of the honest network after the start, both with and without the attack.
    pub then: Step,
}

/// Function that acts on a stage; its effect continues until the returned tasks are dropped.
pub type Step = for<'a> fn(&'a mut TestNetwork) -> BoxFuture<'a, Result<Tasks, HostileError>>;

/// A [`Step`] that does nothing.
fn nothing(_: &mut TestNetwork) -> BoxFuture<'_, Result<Tasks, HostileError>> {
    Box::pin(std::future::ready(Ok(Tasks::default())))
}

/// Returns a network whose victim offers all services, with honest users of them.
fn with_services() -> StageOptions {
    StageOptions {
        services: true,
        ..StageOptions::default()
    }
}

impl Attack {
    /// Starts the honest network, and the attack if `is_attacked` is true.
    pub async fn stage(
        &self,
        program: &Path,
        is_attacked: bool,
    ) -> Result<(TestNetwork, Tasks), HostileError> {
        let mut stage = TestNetwork::start(program, (self.options)()).await?;
        let mut tasks = Tasks::default();
        if is_attacked {
            tasks = (self.start)(&mut stage).await?;
        }
        tasks.join((self.then)(&mut stage).await?);
        Ok((stage, tasks))
    }
}

/// All attacks, in the order of their numbers.
pub const ALL: [Attack; 32] = [
    a1_restart::ATTACK,
    a2_silent_connection::ATTACK,
    a3_burst::ATTACK,
    a4_crowd::ATTACK,
    a5_made_up_roots::ATTACK,
    b6_squatters::ONE_NEIGHBOUR,
    b6_squatters::TWO_NEIGHBOURS,
    b6_squatters::THREE_NEIGHBOURS,
    b7_sockets::SILENT_SOCKETS,
    b7_sockets::IDLE_IDENTITIES,
    b7_sockets::SUBSCRIBED_IDENTITIES,
    b8_bad_proofs::ATTACK,
    b9_credit::ATTACK,
    b10_other_shard::ATTACK,
    b11_junk::ATTACK,
    c1_half_requests::ATTACK,
    c2_malformed::ATTACK,
    c3_unread_answers::ATTACK,
    c4_unread_pushes::ATTACK,
    c5_subscribers::ATTACK,
    c6_floods::REQUESTS,
    c6_floods::BAD_PUSHES,
    c7_store_sync::ATTACK,
    d1_rest::SLOW_BODIES,
    d1_rest::IDLE_CONNECTIONS,
    d1_rest::UNREAD_EVENTS,
    d1_rest::LONG_QUERIES,
    e1_lying_services::ATTACK,
    e2_clock_jump::ATTACK,
    e3_forged_handshakes::ATTACK,
    e4_lying_chain_endpoint::ATTACK,
    e6_hole_punching_scan::ATTACK,
];
