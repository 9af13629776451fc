use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_schema::DataType;

use super::columns::Columns;
use super::{deliveries, messages, nodes};
use crate::report::DatasetChoice;
use crate::run::{FinishedRun, RunRequest};
use crate::scenario;

fn small() -> FinishedRun {
    let loaded = scenario::load("small", &[]).unwrap();
    let request = RunRequest {
        loaded: &loaded,
        seed: 1,
        threads: 1,
        commit: "test",
        datasets: DatasetChoice::default(),
    };
    request.run(&mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_run_has_a_row_for_each_delivery_message_and_node() {
    let FinishedRun { outcome, summary } = small();
    let rows = deliveries(&outcome, &summary);
    assert_eq!(rows.num_rows(), 3 * 49);
    let latency = rows["latency_ms"].as_primitive::<Float64Type>();
    let max = latency.values().iter().copied().fold(0.0, f64::max);
    assert_eq!(Some(max), summary.latency_ms.map(|latency| latency.max));
    let hash = rows.schema().metadata()["undertone.trace_hash"].clone();
    assert_eq!(Some(hash), summary.trace_hash);

    let of_messages = messages(&summary);
    let delivered = of_messages["delivered"].as_primitive::<Int64Type>();
    assert_eq!(delivered.values(), &[49, 49, 49]);

    let of_nodes = nodes(&outcome, &summary);
    assert_eq!(of_nodes.num_rows(), 50);
    let sent = of_nodes["wire_sent_bytes"].as_primitive::<Int64Type>();
    let sent: i64 = sent.values().iter().sum();
    assert_eq!(sent as u64, summary.bytes.wire);
    let node = of_nodes["node"].as_primitive::<Int32Type>();
    assert_eq!(node.values()[49], 49);
}

#[test]
fn the_values_of_a_key_are_numbers_if_all_of_them_are() {
    let kind = |values: &[&str]| {
        let table = Columns::default().key("key", values).table([].into());
        table.schema().field(0).data_type().clone()
    };
    assert_eq!(kind(&["1", "20"]), DataType::Int64);
    assert_eq!(kind(&["1", "0.5"]), DataType::Float64);
    assert_eq!(kind(&["true", "false"]), DataType::Boolean);
    assert_eq!(kind(&["1", "eager-mesh"]), DataType::Utf8);
}
