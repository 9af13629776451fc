//! A hundred publishing members, in virtual time and as real nodes.

use super::super::{
    Context, Experiment, ExperimentError, Findings, MachineError, NetworkLoadPlan, NetworkLoadRun,
};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};
use crate::report::{Sorted, median};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "rln-100",
    title: "100 nodes that publish every 10 s, 10,000 members",
    source: "Waku research, RLN Key Benchmarks",
    run,
};

const NODES: u32 = 100;
const MEMBERS: u32 = 10_000;
const PERIOD_S: f64 = 10.0;

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let simulated = context.simulate("rln-100", &[], context.by_scale(1, 3))?;
    let plan = NetworkLoadPlan {
        nodes: NODES,
        members: MEMBERS,
        period_s: PERIOD_S,
        duration_s: context.by_scale(10.0, 60.0),
        rln: true,
    };
    let line = context.say("100 real nodes with RLN");
    let with = context.real_nodes().network_load(plan);
    line.finish();
    let line = context.say("100 real nodes without RLN");
    let without = context
        .real_nodes()
        .network_load(NetworkLoadPlan { rln: false, ..plan });
    line.finish();
    let mut table = Table::new(
        "100 real nodes in one process",
        &[
            "",
            "delivered",
            "median ms",
            "p95 ms",
            "processor, % of a core",
            "of a node",
            "memory, MB",
        ],
    );
    table_row(&mut table, "with RLN", &with);
    table_row(&mut table, "without", &without);
    findings.tables.push(table);
    for error in [&with, &without]
        .into_iter()
        .filter_map(|run| run.as_ref().err())
    {
        findings.note(format!("Real nodes did not run: {error}."));
    }
    let (with, without) = (with.ok(), without.ok());
    let memory = with.as_ref().zip(without.as_ref());
    let missing = |run: &NetworkLoadRun| (run.expected - run.delivered) as f64;
    let sim_missing: Vec<f64> = simulated
        .iter()
        .map(|run| (run.summary.expected - run.summary.delivered) as f64)
        .collect();
    let cpu = |run: &NetworkLoadRun| run.cpu_s / run.wall_s * 100.0;
    findings.figures = vec![
        Figure::stated(
            "deliveries missing, simulator",
            "",
            "all nodes receive",
            &sim_missing,
            Criterion::AtMost(0.0),
        ),
        Figure::stated(
            "deliveries missing, real nodes with RLN",
            "",
            "all nodes receive",
            &with.as_ref().map(missing).into_iter().collect::<Vec<_>>(),
            Criterion::AtMost(0.0),
        ),
        Figure::published(
            "memory that RLN adds, for each node",
            "MB",
            0.0,
            &memory
                .map(|(with, without)| (with.rss_mb - without.rss_mb) / f64::from(NODES))
                .into_iter()
                .collect::<Vec<_>>(),
            Criterion::AtMost(3.0),
        )
        .because(
            "The key and the tables of the prover, some 200 MB, are in the process once, and counted \
             here with its hundred nodes: five nodes with RLN take 213 MB more than five without. What \
             each node adds is about 2 MB.",
        ),
        Figure::ours(
            "processor of a node with RLN",
            "% of a core",
            &with
                .as_ref()
                .map(|run| cpu(run) / f64::from(NODES))
                .into_iter()
                .collect::<Vec<_>>(),
        ),
        Figure::ours(
            "processor of a node without RLN",
            "% of a core",
            &without
                .as_ref()
                .map(|run| cpu(run) / f64::from(NODES))
                .into_iter()
                .collect::<Vec<_>>(),
        ),
    ];
    let mut chart = Chart::new(
        "Publishing to delivery",
        Axis::linear("ms"),
        Axis::linear("share of deliveries"),
    );
    if let Some(run) = simulated.first() {
        let values = run.summary.sorted_ms.values();
        chart = chart.with(
            "simulator, 50 ms links",
            Role::Model,
            Shape::ecdf(values, 100),
        );
    }
    for (name, run) in [("real, with RLN", &with), ("real, without", &without)] {
        if let Some(run) = run {
            chart = chart.with(name, Role::Ours, Shape::ecdf(&run.latency_ms, 100));
        }
    }
    findings.charts.push(chart);
    findings.note(
        "Memory as published: almost identical with and without. The processor's share was not \
         published. Real nodes are on loopback, so their latency is theirs alone.",
    );
    Ok(findings)
}

fn table_row(table: &mut Table, name: &str, run: &Result<NetworkLoadRun, MachineError>) {
    let Ok(run) = run else {
        return;
    };
    let sorted = Sorted::new(run.latency_ms.clone());
    let ms = |value: Option<f64>| value.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
    let percent = run.cpu_s / run.wall_s * 100.0;
    table.push([
        name.to_owned(),
        format!("{}/{}", run.delivered, run.expected),
        ms(median(run.latency_ms.iter().copied())),
        ms(sorted.quantile(0.95)),
        format!("{percent:.0}"),
        format!("{:.2}", percent / f64::from(NODES)),
        format!("{:.0}", run.rss_mb),
    ]);
}
