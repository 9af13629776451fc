use ark_ff::Field;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;
use crate::arkzkey::Defect;
use crate::field::fr_random;

const FILE: &[u8] = include_bytes!("../../artefacts/tree_depth_20/graph.bin");

/// Both programs of the split together compute the values of the whole graph.
#[test]
fn the_split_programs_give_the_wires_of_the_whole() {
    let graph = parse(FILE).unwrap();
    let split = graph.split();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..4 {
        let mut inputs: Vec<Fr> = (0..graph.inputs.count)
            .map(|_| fr_random(&mut rng))
            .collect();
        inputs[0] = Fr::ONE;
        let values = graph.program.run(&inputs);
        let member = split.member.run(&inputs);
        let Inputs {
            x,
            external_nullifier,
            message_id,
            ..
        } = graph.inputs;
        let message: Vec<Fr> = [x, external_nullifier, message_id]
            .iter()
            .map(|input| inputs[*input as usize])
            .chain(split.boundary.iter().map(|value| member[*value as usize]))
            .collect();
        let message = split.message.run(&message);
        for (wire, node) in split.wires.iter().zip(&graph.wires) {
            let found = match wire {
                Wire::Member(value) => member[*value as usize],
                Wire::Message(value) => message[*value as usize],
            };
            assert_eq!(found, values[*node as usize]);
        }
    }
}

#[test]
fn a_message_decides_few_wires_and_the_signal_two() {
    let graph = parse(FILE).unwrap();
    let split = graph.split();
    let of_message = split
        .wires
        .iter()
        .filter(|wire| matches!(wire, Wire::Message(_)));
    assert_eq!((split.wires.len(), of_message.count()), (5844, 505));
    let inputs = |x: u64| {
        let boundary = split.boundary.iter().map(|_| Fr::from(9));
        let own = [Fr::from(x), Fr::from(4), Fr::from(5)];
        own.into_iter().chain(boundary).collect::<Vec<Fr>>()
    };
    let [a, b] = [1, 2].map(|x| split.message.run(&inputs(x)));
    let changed: Vec<usize> = (0..split.wires.len())
        .filter(|wire| match split.wires[*wire] {
            Wire::Member(_) => false,
            Wire::Message(value) => a[value as usize] != b[value as usize],
        })
        .collect();
    assert_eq!(changed, [crate::circuit::WIRE_Y, crate::circuit::WIRE_X]);
}

#[test]
fn a_cut_graph_is_refused_wherever_it_is_cut() {
    for length in (0..FILE.len()).step_by(997).chain([FILE.len() - 1]) {
        let refused = parse(&FILE[..length]).unwrap_err();
        assert!(refused.at_byte <= length, "{length}: {refused:?}");
    }
    let longer = [FILE, &[0]].concat();
    assert_eq!(parse(&longer).unwrap_err().what, Defect::Trailing);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Parsing any bytes gives an error or a graph whose indices are in range.
    #[test]
    fn damage_does_no_harm(at in 0..FILE.len(), value in any::<u8>()) {
        let mut bytes = FILE.to_vec();
        bytes[at] = value;
        if let Ok(graph) = parse(&bytes) {
            let inputs = vec![Fr::ONE; graph.inputs.count];
            prop_assert_eq!(graph.program.run(&inputs).len(), 23414);
            graph.split();
        }
    }

    #[test]
    fn bits_are_cut_out_as_of_integers(a in any::<u64>(), by in 0u32..64, mask in any::<u64>()) {
        let shifted = shift_right(Fr::from(a), Fr::from(by));
        prop_assert_eq!(shifted, Fr::from(a >> by));
        prop_assert_eq!(bit_and(Fr::from(a), Fr::from(mask)), Fr::from(a & mask));
    }
}

#[test]
fn shifts_by_the_whole_width_and_more_leave_nothing() {
    for by in [
        Fr::from(254),
        Fr::from(255),
        Fr::from(256),
        Fr::from(u64::MAX),
        -Fr::ONE,
    ] {
        assert_eq!(shift_right(-Fr::ONE, by), Fr::ZERO);
    }
    assert_eq!(shift_right(Fr::from(2).pow([200]), Fr::from(200)), Fr::ONE);
}
