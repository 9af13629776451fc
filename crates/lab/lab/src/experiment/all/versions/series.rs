//! GossipSub v1.2 by message size and by number of publishers: nim-libp2p's router over its muxer compared with the
//! published charts, and this project's router on the same network.

use super::super::super::{Context, ExperimentError, Findings};
use super::last_arrival_ms;
use crate::published::{GOSSIPSUB_V12_SERIES, rows};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

/// Number of nodes of the published runs.
const NODES: u32 = 1_500;
/// Required agreement with the published value, as a share of it.
const WITHIN: f64 = 0.15;

/// Messages that warm up the connections, before those of the series.
const WARM_UP: u32 = 2;

/// Time between the first and the last publisher to finish dialling its peers, milliseconds: 2.4 s among 25 and 3.5 s
/// among 50 of the authors' own nodes (docs/design/network-model.md).
const DIALLING_MS: f64 = 3_500.0;
/// Maximum dialling time that each publisher adds to the spacing, milliseconds.
const DIALLING_OF_EACH_MS: f64 = 100.0;

const WHY_SIZE: &str = "1400 and 1800 KB are more than the authors' published node can send, 1 MiB, so that another one was \
                        measured (docs/design/network-model.md).";
const WHY_PUBLISHERS: &str = "A publisher begins when it has dialled its peers. Here they are spread evenly over the time that this \
                              took; from 75 on the real ones are not, as those of one rate end their dialling together. Streams \
                              that nim resets under overload are not simulated (docs/design/network-model.md).";
const WHY_DUPLICATES: &str = "Explained in part: a request brings a copy, and the published network has more requests, as its messages \
                              are longer under way.";

/// One point of a published series.
struct SeriesPoint {
    series: &'static str,
    publishers: u32,
    payload_kb: u32,
    /// Scheduled time between publishers. Each publisher's schedule begins when it has dialled its peers.
    spacing_ms: f64,
    total_gb: Option<f64>,
    /// Mean over messages of the time until the last node has the message. The column is called mean latency. The
    /// publication averages "network-wide dissemination time"; its script `summary_latency_large.awk` averages the
    /// latest arrival, including the messages that warm up the connections.
    last_arrival_ms: Option<f64>,
    duplicates: Option<f64>,
    iwants_per_message: Option<f64>,
}

impl SeriesPoint {
    fn all() -> Vec<Self> {
        let points = rows(GOSSIPSUB_V12_SERIES).filter_map(|row| {
            let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<f64>().ok());
            Some(Self {
                series: row.first().copied()?,
                publishers: row.get(1)?.parse().ok()?,
                payload_kb: row.get(2)?.parse().ok()?,
                spacing_ms: number(3)?,
                total_gb: number(4),
                last_arrival_ms: number(5),
                duplicates: number(6),
                iwants_per_message: number(7),
            })
        });
        points.collect()
    }

    fn name(&self) -> String {
        match self.series {
            "size" => format!("{} KB", self.payload_kb),
            _ => format!("{} publishers", self.publishers),
        }
    }

    fn set(&self, nodes: u32) -> Vec<String> {
        vec![
            format!("scenario.nodes={nodes}"),
            format!("traffic.publisher_count={}", self.publishers),
            format!("traffic.messages={}", self.publishers + WARM_UP),
            format!("traffic.payload_bytes={}", self.payload_kb * 1_000),
            format!("traffic.spacing_s={}", self.real_spacing_ms() / 1e3),
        ]
    }

    /// The reason why last arrivals differ from the published ones.
    fn why_latency(&self) -> &'static str {
        match self.series {
            "size" => WHY_SIZE,
            _ => WHY_PUBLISHERS,
        }
    }

    /// Mean time between messages. In the series by size it is the scheduled 10 s, compared with which dialling is
    /// short.
    fn real_spacing_ms(&self) -> f64 {
        if self.series == "size" {
            return self.spacing_ms;
        }
        let publishers = f64::from(self.publishers);
        self.spacing_ms + (DIALLING_MS / publishers).min(DIALLING_OF_EACH_MS)
    }
}

/// Figures of one router at one point, by seed.
struct Measured {
    gigabytes: Vec<f64>,
    mean_ms: Vec<f64>,
    last_ms: Vec<f64>,
    duplicates: Vec<f64>,
    iwants: Vec<f64>,
    delivered: (u64, u64),
}

fn measure(
    context: &mut Context<'_>,
    point: &SeriesPoint,
    nodes: u32,
    router: &[&str],
) -> Result<Measured, ExperimentError> {
    let set = point.set(nodes);
    let set: Vec<&str> = set
        .iter()
        .map(String::as_str)
        .chain(router.iter().copied())
        .collect();
    let runs = context.simulate("gossipsub-v12", &set, 1)?;
    let of = |figure: &dyn Fn(&crate::report::Summary) -> Option<f64>| -> Vec<f64> {
        runs.iter().filter_map(|run| figure(&run.summary)).collect()
    };
    Ok(Measured {
        gigabytes: of(&|run| Some(run.bytes.wire as f64 / 1e9)),
        mean_ms: of(&|run| run.latency_ms.map(|latency| latency.mean)),
        last_ms: of(&|run| last_arrival_ms(run, true)),
        duplicates: of(&|run| run.bytes.copies_per_delivery.map(|copies| copies - 1.0)),
        iwants: of(&|run| {
            let asked = run.bytes.kinds.get("iwant")?.count;
            Some(asked as f64 / run.delivered.max(1) as f64)
        }),
        delivered: runs
            .first()
            .map_or((0, 0), |run| (run.summary.delivered, run.summary.expected)),
    })
}

/// Adds the figures, a table and two charts.
pub(super) fn add(
    context: &mut Context<'_>,
    findings: &mut Findings,
) -> Result<(), ExperimentError> {
    let nodes = context.by_scale(200, NODES);
    let every = context.by_scale(4, 1);
    let mut table = Table::new(
        format!("v1.2 in series: {nodes} nodes, published for {NODES}"),
        &[
            "",
            "router",
            "total GB",
            "mean ms",
            "last ms",
            "duplicates",
            "IWANT per delivery",
            "delivered",
        ],
    );
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    for point in SeriesPoint::all().into_iter().step_by(every) {
        let nim = measure(context, &point, nodes, &[])?;
        let own = measure(context, &point, nodes, &["relay.profile=undertone"])?;
        let shown = |values: &[f64]| values.first().map_or("-".to_owned(), |v| format!("{v:.2}"));
        let published = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v}"));
        table.push([
            point.name(),
            "published".to_owned(),
            published(point.total_gb),
            published(None),
            published(point.last_arrival_ms),
            published(point.duplicates),
            published(point.iwants_per_message),
            String::new(),
        ]);
        for (router, measured) in [("nim", &nim), ("undertone", &own)] {
            table.push([
                point.name(),
                router.to_owned(),
                shown(&measured.gigabytes),
                shown(&measured.mean_ms),
                shown(&measured.last_ms),
                shown(&measured.duplicates),
                shown(&measured.iwants),
                format!("{}/{}", measured.delivered.0, measured.delivered.1),
            ]);
        }
        if point.series == "size" {
            let x = f64::from(point.payload_kb);
            let ms = [
                point.last_arrival_ms,
                nim.last_ms.first().copied(),
                own.last_ms.first().copied(),
            ];
            for (curve, ms) in curves.iter_mut().zip(ms) {
                curve.extend(ms.map(|ms| [x, ms]));
            }
        }
        // A smaller network has fewer hops, so that only the published size is judged.
        let criterion = match nodes {
            NODES => Criterion::Within(WITHIN),
            _ => Criterion::Shown,
        };
        let name = |what: &str| format!("v1.2, nim, {}: {what}", point.name());
        let figures = [
            (
                "last arrival",
                "ms",
                point.last_arrival_ms,
                &nim.last_ms,
                point.why_latency(),
            ),
            (
                "duplicates",
                "",
                point.duplicates,
                &nim.duplicates,
                WHY_DUPLICATES,
            ),
        ];
        for (what, unit, published, ours, why) in figures {
            let Some(published) = published else {
                continue;
            };
            let figure = Figure::published(name(what), unit, published, ours, criterion);
            findings.figures.push(figure.because(why));
        }
        findings.figures.push(Figure::ours(
            format!("v1.2, Undertone's router, {}: last arrival", point.name()),
            "ms",
            &own.last_ms,
        ));
    }
    findings.tables.push(table);
    let [published, nim, own] = curves;
    findings.charts.push(
        Chart::new(
            "v1.2: last arrival over the size of messages",
            Axis::linear("KB"),
            Axis::linear("ms"),
        )
        .with("published", Role::Published, Shape::Line(published))
        .with("nim's router", Role::Ours, Shape::Line(nim))
        .with("Undertone's router", Role::Ours, Shape::Line(own)),
    );
    findings.note(
        "The series of v1.2 are of nim's profile (relay.profile = nim) over nim's multiplexer, beside Undertone's own router on \
         the same network, that of the authors' published test node. Totals include the two messages that warm up the \
         connections. The charts were read by eye to some 10 %.",
    );
    Ok(())
}
