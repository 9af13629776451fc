//! Campaign of faults: service nodes are killed and suspended, the light node sleeps, and some peers lie throughout.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::segments::SegmentCount;
use super::sends::SentMessages;
use super::test_network::{CONTENT_TOPIC, LightTestNetwork, StagePlan};
use crate::HostileError;
use crate::raw::Lie;

/// Interval between two messages.
const PUBLISH_EVERY: Duration = Duration::from_millis(500);

/// Messages of service nodes for each message that the light node sends.
const OTHERS_PER_SEND: u64 = 3;

/// Time between faults, seconds: minimum and maximum.
const TROUBLE_EVERY_S: (u64, u64) = (4, 12);

/// Duration of each kind of fault, seconds: minimum and maximum. The light node takes a pause of 15 s for a sleep.
const DEAD_S: (u64, u64) = (3, 40);
const SUSPENDED_S: (u64, u64) = (5, 45);
const ASLEEP_S: (u64, u64) = (2, 30);

/// Time after the last fault within which everything must arrive. Messages are compared with history at least every
/// three minutes, and each comparison queries two of the stores.
const RECOVERY: Duration = Duration::from_secs(600);

/// Length and seed of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CampaignPlan {
    /// Seed of the faults.
    pub seed: u64,
    /// Time during which faults start.
    pub length: Duration,
}

/// Numbers of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TroubleCount {
    /// Service nodes killed.
    pub kills: u32,
    /// Service nodes suspended.
    pub suspensions: u32,
    /// Sleeps of the light node.
    pub sleeps: u32,
}

/// Outcome of a campaign.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LightCampaignReport {
    /// Faults that occurred.
    pub troubles: TroubleCount,
    /// Messages accepted by a service node.
    pub published: u64,
    /// Messages that the light node sent.
    pub sent: SentMessages,
    /// Error in the light node's sending; `None` if every message is accounted for.
    pub sends_wrong: Option<String>,
    /// Messages in the stores at the end.
    pub held: usize,
    /// Messages delivered by the light node.
    pub delivered: usize,
    /// Messages in a store that the light node never delivered.
    pub missing: usize,
    /// Messages that the light node delivered more than once.
    pub twice: usize,
    /// Messages fetched from a store, because no filter peer had pushed them.
    pub recovered: f64,
    /// Protocol violations that the light node noticed.
    pub offences: f64,
    /// Time from the end of the last fault until everything had arrived, seconds.
    pub caught_up_s: u64,
    /// TCP segments of all processes and the test, those of REST included.
    pub segments: SegmentCount,
}

impl fmt::Display for LightCampaignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TroubleCount {
            kills,
            suspensions,
            sleeps,
        } = self.troubles;
        writeln!(
            f,
            "{kills} kills, {suspensions} suspensions, {sleeps} sleeps of the light node"
        )?;
        writeln!(
            f,
            "{} messages published, {} held by stores, {} delivered ({} of them from a store)",
            self.published, self.held, self.delivered, self.recovered
        )?;
        writeln!(f, "{}", self.sent)?;
        writeln!(
            f,
            "{} missing, {} delivered twice; {} breaches noticed; caught up {} s after the last trouble",
            self.missing, self.twice, self.offences, self.caught_up_s
        )?;
        writeln!(f, "{}", self.segments)
    }
}

/// Fault in progress, which ends at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ongoing {
    Dead(usize),
    Suspended(usize),
    LightAsleep,
}

/// Random choices determined by a seed (SplitMix64).
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in the range, both ends included.
    fn within(&mut self, (least, most): (u64, u64)) -> u64 {
        least + self.next() % (most - least + 1)
    }
}

impl CampaignPlan {
    /// Runs the campaign with the program `undertone`, and prints each fault.
    ///
    /// # Errors
    /// [`HostileError`] if a node does not start.
    pub async fn run(self, program: &Path) -> Result<LightCampaignReport, HostileError> {
        let plan = StagePlan {
            lies: &[Lie::Silence, Lie::Noise],
            ..StagePlan::HONEST
        };
        let stage = LightTestNetwork::start(program, plan).await?;
        let mut run = CampaignRun {
            stage,
            choices: Choices(self.seed),
            ongoing: Vec::new(),
            report: LightCampaignReport::default(),
            segments: SegmentCount::now(),
            started: Instant::now(),
        };
        let mut next_trouble = run.later(TROUBLE_EVERY_S);
        while run.started.elapsed() < self.length {
            run.end_due(Instant::now()).await?;
            if Instant::now() >= next_trouble {
                run.begin_one().await;
                next_trouble = run.later(TROUBLE_EVERY_S);
            }
            run.publish().await;
            run.send().await;
            tokio::time::sleep(PUBLISH_EVERY).await;
        }
        run.finish().await
    }
}

struct CampaignRun {
    stage: LightTestNetwork,
    choices: Choices,
    ongoing: Vec<(Instant, Ongoing)>,
    report: LightCampaignReport,
    /// Segment counts before the campaign.
    segments: SegmentCount,
    started: Instant,
}

impl CampaignRun {
    fn later(&mut self, range_s: (u64, u64)) -> Instant {
        Instant::now() + Duration::from_secs(self.choices.within(range_s))
    }

    fn is_awake(&self, at: usize) -> bool {
        let troubles = [Ongoing::Dead(at), Ongoing::Suspended(at)];
        !self.ongoing.iter().any(|(_, one)| troubles.contains(one))
    }

    fn awake(&self) -> Vec<usize> {
        let all = 0..self.stage.services.len();
        all.filter(|at| self.is_awake(*at)).collect()
    }

    fn say(&self, what: &str) {
        println!("{:4} s: {what}", self.started.elapsed().as_secs());
    }

    /// Starts a fault; at least one service node stays awake.
    async fn begin_one(&mut self) {
        let kind = self.choices.next() % 3;
        let awake = self.awake();
        let at = awake[usize::try_from(self.choices.next()).unwrap_or(0) % awake.len()];
        let troubles = &mut self.report.troubles;
        let (trouble, range_s) = match kind {
            0 if awake.len() > 1 => {
                troubles.kills += 1;
                (Ongoing::Dead(at), DEAD_S)
            }
            1 if awake.len() > 1 => {
                troubles.suspensions += 1;
                (Ongoing::Suspended(at), SUSPENDED_S)
            }
            _ if self
                .ongoing
                .iter()
                .any(|(_, one)| *one == Ongoing::LightAsleep) =>
            {
                return;
            }
            _ => {
                troubles.sleeps += 1;
                (Ongoing::LightAsleep, ASLEEP_S)
            }
        };
        let end = self.later(range_s);
        let length_s = end.saturating_duration_since(Instant::now()).as_secs() + 1;
        self.say(&format!("{trouble:?} for {length_s} s"));
        match trouble {
            Ongoing::Dead(at) => self.stage.services[at].kill().await,
            Ongoing::Suspended(at) => self.stage.services[at].suspend(),
            Ongoing::LightAsleep => self.stage.light.suspend(),
        }
        self.ongoing.push((end, trouble));
    }

    /// Ends the faults whose time is over.
    async fn end_due(&mut self, now: Instant) -> Result<(), HostileError> {
        let due: Vec<_> = self
            .ongoing
            .extract_if(.., |(end, _)| *end <= now)
            .collect();
        for (_, trouble) in due {
            self.say(&format!("end of {trouble:?}"));
            match trouble {
                Ongoing::Dead(at) => self.stage.services[at].launch().await?,
                Ongoing::Suspended(at) => self.stage.services[at].resume(),
                Ongoing::LightAsleep => self.stage.light.resume(),
            }
        }
        Ok(())
    }

    /// Publishes a message at a service node that is not suspended or killed.
    async fn publish(&mut self) {
        let awake = self.awake();
        let at = awake[usize::try_from(self.choices.next()).unwrap_or(0) % awake.len()];
        let text = format!("message {} at {at}", self.report.published);
        if self.stage.publish(at, &text).await {
            self.report.published += 1;
        }
    }

    /// Makes the light node send a message occasionally, if it is awake; its peers may be dead or suspended.
    async fn send(&mut self) {
        let is_asleep = self
            .ongoing
            .iter()
            .any(|(_, one)| *one == Ongoing::LightAsleep);
        if is_asleep || !self.report.published.is_multiple_of(OTHERS_PER_SEND) {
            return;
        }
        // Polled regularly, because the node keeps a limited number of final states.
        self.report.sent.note_ends(&self.stage.light).await;
        let text = format!("sent {}", self.report.sent.accepted());
        let light = &self.stage.light;
        self.report.sent.send(light, CONTENT_TOPIC, &text).await;
    }

    /// Ends all faults, waits until everything has arrived, and compares.
    async fn finish(mut self) -> Result<LightCampaignReport, HostileError> {
        let far = Instant::now() + Duration::from_secs(24 * 3600);
        self.end_due(far).await?;
        let calm = Instant::now();
        let light = &self.stage.light;
        self.report.sent.wait_ends(light, RECOVERY).await;
        self.say(&self.report.sent.to_string());
        let missing = self.stage.missing(RECOVERY).await;
        for hash in &missing {
            self.say(&format!("missing: {hash}"));
        }
        let stage = &self.stage;
        let counts = stage.events.counts();
        self.report.caught_up_s = calm.elapsed().as_secs();
        self.report.missing = missing.len();
        let held = stage.held().await;
        self.report.held = held.len();
        self.report.sends_wrong = self.report.sent.complaint(&held);
        self.report.delivered = counts.len();
        self.report.twice = counts.values().filter(|count| **count > 1).count();
        let origin = |name: &str| format!("undertone_light_messages_total{{origin=\"{name}\"}}");
        self.report.recovered = stage.figure(&origin("store")).await;
        self.report.segments = SegmentCount::now().since(self.segments);
        self.report.offences = stage.figure("undertone_light_offences_total").await;
        assert!(!stage.events.has_ended(), "the event stream ended");
        Ok(self.report)
    }
}
