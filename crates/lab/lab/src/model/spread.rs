//! Our refined model: the spread of a message through a random mesh, hop by hop in time.
//!
//! It adds to Equation 1 and Equation 2:
//!
//! - The publisher sends the copies of its first hop one after another; the k-th has left after k times
//!   the transmission time of a copy.
//! - Every node that forwards does the same: it sends to all its mesh peers but the one it received from,
//!   in random order.
//! - Rings do not grow as in a tree, because two nodes may forward to the same one. A node is not reached
//!   as long as none of its connections has carried the message. With `theta(t)` the probability that one
//!   connection has not, the share of nodes not reached is the sum over degrees `k` of `p(k) theta(t)^k`,
//!   and the neighbour behind a connection is reached like a node with one connection fewer, of
//!   size-biased degree (the configuration model; Miller 2011).
//! - Copies that arrive together share the receiver's downlink: a copy is delayed by the bytes of others
//!   that are expected to arrive at the same time.
//!
//! The model is a recursion forward in time and has no fitted constants. It leaves out transport windows
//! (connections are warm), IDONTWANT, gossip, and the grouping of nodes by short cycles.

/// Number of time steps within the transmission of one copy, and within a one-way delay.
const STEPS: f64 = 16.0;
/// Upper bound of a time step, milliseconds.
const MAX_STEP_MS: f64 = 0.5;
/// Upper bound of the number of steps; later times are cut off.
const MAX_STEPS: usize = 4_000_000;
/// Number of hops that are distinguished; the last one stands for all further hops.
const MAX_HOPS: usize = 24;
/// Probability below which events are not followed.
const NEGLIGIBLE: f64 = 1e-12;

/// Parameters of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadParams {
    /// Number of nodes, including the publisher.
    pub nodes: u32,
    /// Number of copies that the publisher sends.
    pub first_copies: u32,
    /// Whether these copies go to its mesh peers, rather than to all its connections.
    pub first_to_mesh: bool,
    /// Mean degree of the mesh; its nodes have this degree rounded down or up.
    pub mesh_degree: f64,
    /// Time that one copy occupies an uplink, milliseconds.
    pub up_copy_ms: f64,
    /// Time that one copy occupies a downlink, milliseconds.
    pub down_copy_ms: f64,
    /// Burst that an idle uplink sends at once, as time at its rate, milliseconds.
    pub burst_ms: f64,
    /// One-way delay between two nodes, milliseconds.
    pub one_way_ms: f64,
    /// Time from publishing to the proof, milliseconds.
    pub generation_ms: f64,
    /// Time of validation at each hop, milliseconds.
    pub validation_ms: f64,
}

/// Prediction for one message.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadPrediction {
    /// Nodes reached at each time, in order, as (milliseconds, expected number).
    arrivals: Vec<(f64, f64)>,
    /// Expected number of nodes reached after 1, 2, … hops.
    pub hops: Vec<f64>,
}

impl SpreadPrediction {
    /// Expected number of nodes reached.
    pub fn reached(&self) -> f64 {
        self.arrivals.iter().map(|(_, nodes)| nodes).sum()
    }

    /// Mean latency over the nodes reached, milliseconds; 0 when there are none.
    pub fn mean_ms(&self) -> f64 {
        let sum: f64 = self.arrivals.iter().map(|(ms, nodes)| ms * nodes).sum();
        let reached = self.reached();
        if reached > 0.0 { sum / reached } else { 0.0 }
    }

    /// Latency that a share `q` (0 to 1) of the nodes reached does not exceed, milliseconds.
    /// `q = 1` is the time at which less than half a node is expected to be missing, which corresponds
    /// to a measured maximum.
    pub fn quantile_ms(&self, q: f64) -> f64 {
        let reached = self.reached();
        let wanted = (q * reached).clamp(0.5, (reached - 0.5).max(0.5));
        let mut sum = 0.0;
        for (ms, nodes) in &self.arrivals {
            sum += nodes;
            if sum >= wanted {
                return *ms;
            }
        }
        self.arrivals.last().map_or(0.0, |(ms, _)| *ms)
    }
}

/// Predicts the spread of a message.
pub fn predict(params: &SpreadParams) -> SpreadPrediction {
    let mut machine = SpreadComputation::new(params);
    machine.publish();
    let mut step = 0;
    while step < machine.incoming.len() {
        machine.share_downlinks(step);
        machine.arrive(step);
        step += 1;
    }
    machine.finish()
}

/// Probability mass by hops, at one time.
type ByHop = [f64; MAX_HOPS];

struct SpreadComputation<'a> {
    params: &'a SpreadParams,
    step_ms: f64,
    /// Degrees and shares of nodes, as (degree, share).
    degrees: [(u32, f64); 2],
    /// Copies on one connection that would be complete in each step, if the downlink were free.
    incoming: Vec<ByHop>,
    /// Copies on one connection that are complete in each step, with the downlink shared.
    complete: Vec<ByHop>,
    /// Probability that a node receives the publisher's copy, by step.
    first: Vec<f64>,
    /// Sum of `incoming` over the last transmission time of a copy.
    window: f64,
    /// Probability that a connection has not carried the message yet.
    theta: f64,
    /// Probability that the publisher has not reached a node directly yet.
    not_first: f64,
    arrivals: Vec<(f64, f64)>,
    hops: ByHop,
}

impl<'a> SpreadComputation<'a> {
    fn new(params: &'a SpreadParams) -> Self {
        let finest = |ms: f64| if ms > 0.0 { ms / STEPS } else { MAX_STEP_MS };
        let step_ms = finest(params.up_copy_ms)
            .min(finest(params.one_way_ms))
            .clamp(1e-3, MAX_STEP_MS);
        let low = params.mesh_degree.max(1.0).floor();
        let above = params.mesh_degree.max(1.0) - low;
        Self {
            params,
            step_ms,
            degrees: [(low as u32, 1.0 - above), (low as u32 + 1, above)],
            incoming: Vec::new(),
            complete: Vec::new(),
            first: Vec::new(),
            window: 0.0,
            theta: 1.0,
            not_first: 1.0,
            arrivals: Vec::new(),
            hops: [0.0; MAX_HOPS],
        }
    }

    /// Time from the start of sending until the `k`-th copy has left, milliseconds.
    fn sent_ms(&self, k: u32) -> f64 {
        (f64::from(k) * self.params.up_copy_ms - self.params.burst_ms).max(0.0)
    }

    /// Returns the step of a time, and extends the vectors to it; `None` beyond the last step.
    fn step_at(&mut self, ms: f64) -> Option<usize> {
        let step = (ms / self.step_ms).round() as usize;
        if step >= MAX_STEPS {
            return None;
        }
        if step >= self.incoming.len() {
            self.incoming.resize(step + 1, [0.0; MAX_HOPS]);
            self.complete.resize(step + 1, [0.0; MAX_HOPS]);
            self.first.resize(step + 1, 0.0);
        }
        Some(step)
    }

    fn publish(&mut self) {
        let others = self.params.nodes.saturating_sub(1);
        let copies = self.params.first_copies.min(others);
        for k in 1..=copies {
            let at = self.params.generation_ms + self.sent_ms(k) + self.params.one_way_ms;
            if let Some(step) = self.step_at(at) {
                self.first[step] += 1.0 / f64::from(others);
            }
        }
    }

    /// Moves the copies that come in at a step to the step at which they are complete.
    fn share_downlinks(&mut self, step: usize) {
        let copy_steps = (self.params.down_copy_ms / self.step_ms).round() as usize;
        self.window += self.incoming[step].iter().sum::<f64>();
        if step > copy_steps {
            self.window -= self.incoming[step - copy_steps - 1].iter().sum::<f64>();
        }
        // On average half of each copy that begins within one transmission time before or after overlaps,
        // which is as much as the copies of one transmission time in full.
        let others = (self.params.mesh_degree - 1.0).max(0.0) / self.theta.max(NEGLIGIBLE);
        let shared_ms = self.params.down_copy_ms * (others * self.window.max(0.0));
        let shared_ms = shared_ms.min(self.params.down_copy_ms * others.max(1.0));
        let mass = self.incoming[step];
        if mass.iter().all(|m| *m < NEGLIGIBLE) {
            return;
        }
        if let Some(at) = self.step_at(step as f64 * self.step_ms + shared_ms) {
            for (sum, m) in self.complete[at].iter_mut().zip(mass) {
                *sum += m;
            }
        }
    }

    /// Lets the copies of a step reach nodes, which then forward the message.
    fn arrive(&mut self, step: usize) {
        let first = self.first[step];
        let copies = self.complete[step];
        let carried: f64 = copies.iter().sum();
        if first + carried < NEGLIGIBLE {
            return;
        }
        let theta = (self.theta - carried).max(0.0);
        let not_first = (self.not_first - first).max(0.0);
        let others = f64::from(self.params.nodes.saturating_sub(1));
        for (degree, share) in self.degrees {
            let reached = self.newly(theta, not_first, degree) * share * others;
            self.count(step, reached, &self.by_hop(first, &copies, degree));
        }
        for (degree, share) in self.degrees {
            // A random connection leads to a neighbour of higher degree more often.
            let share = share * f64::from(degree) / self.params.mesh_degree.max(1.0);
            let reached = self.newly(theta, not_first, degree - 1) * share;
            let by_hop = self.by_hop(first, &copies, degree - 1);
            for (hop, part) in by_hop.iter().enumerate() {
                self.forward(step, hop, reached * part, degree);
            }
        }
        self.theta = theta;
        self.not_first = not_first;
    }

    /// Share of the nodes with `connections` connections that are reached in this step.
    fn newly(&self, theta: f64, not_first: f64, connections: u32) -> f64 {
        let power = connections as i32;
        (self.not_first * self.theta.powi(power) - not_first * theta.powi(power)).max(0.0)
    }

    /// Shares of the nodes reached in this step, by number of hops.
    fn by_hop(&self, first: f64, copies: &ByHop, connections: u32) -> ByHop {
        let theta = self.theta.max(NEGLIGIBLE);
        let mut shares = copies.map(|copy| f64::from(connections) * copy / theta);
        shares[0] += first / self.not_first.max(NEGLIGIBLE);
        let sum: f64 = shares.iter().sum();
        shares.map(|share| if sum > 0.0 { share / sum } else { 0.0 })
    }

    fn count(&mut self, step: usize, reached: f64, by_hop: &ByHop) {
        if reached < NEGLIGIBLE {
            return;
        }
        let ms = step as f64 * self.step_ms + self.params.validation_ms;
        self.arrivals.push((ms, reached));
        for (sum, share) in self.hops.iter_mut().zip(by_hop) {
            *sum += reached * share;
        }
    }

    /// Lets a neighbour that is reached through `hop + 1` hops forward the message, in random order.
    fn forward(&mut self, step: usize, hop: usize, probability: f64, degree: u32) {
        if probability < NEGLIGIBLE {
            return;
        }
        // The publisher's copy used one of the mesh connections if it was sent to the mesh, and none of
        // them if it was flooded.
        let (copies, probability) = match (hop, self.params.first_to_mesh) {
            (0, false) => (degree, probability),
            (0, true) => (
                degree - 1,
                probability * f64::from(degree - 1) / f64::from(degree),
            ),
            _ => (degree - 1, probability),
        };
        let next = (hop + 1).min(MAX_HOPS - 1);
        let leaves = step as f64 * self.step_ms + self.params.validation_ms;
        for k in 1..=copies {
            let at = leaves + self.sent_ms(k) + self.params.one_way_ms;
            if let Some(at) = self.step_at(at) {
                self.incoming[at][next] += probability / f64::from(copies);
            }
        }
    }

    fn finish(self) -> SpreadPrediction {
        let seen = self.hops.iter().rposition(|nodes| *nodes > 1e-3);
        SpreadPrediction {
            hops: self.hops[..seen.map_or(0, |last| last + 1)].to_vec(),
            arrivals: self.arrivals,
        }
    }
}
