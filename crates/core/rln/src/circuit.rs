//! Structure of the circuit, derived from its constraints and its witness calculator: which wires and
//! rows depend on a message, and where the signal enters.

use ark_ff::{AdditiveGroup, Field};

use crate::arkzkey::{Defect, ProvingKey};
use crate::field::Fr;
use crate::graph::{Inputs, Split, Wire, WitnessGraph};

/// Wire of the public input y. The public wires have the verifier's order, after the constant 1.
pub(crate) const WIRE_Y: usize = 1;
pub(crate) const WIRE_ROOT: usize = 2;
pub(crate) const WIRE_NULLIFIER: usize = 3;
pub(crate) const WIRE_X: usize = 4;

/// Number of public inputs: y, root, nullifier, x, external nullifier.
pub(crate) const PUBLIC_INPUTS: usize = 5;

/// Number of instance wires: the constant 1 and the public inputs.
pub(crate) const INSTANCE_WIRES: usize = PUBLIC_INPUTS + 1;

/// The constraint system, divided by what depends on a message.
#[derive(Debug)]
pub(crate) struct Circuit {
    /// Positions of the inputs of the witness calculator.
    pub(crate) inputs: Inputs,
    /// Programs that compute the wires of a member and of a message.
    pub(crate) split: Split,
    /// Wires that depend on the external nullifier, message id or signal, ascending.
    pub(crate) message_wires: Vec<u32>,
    /// Rows in which one of `message_wires` occurs, then the rows of the instance wires; ascending.
    pub(crate) message_rows: Vec<u32>,
    /// Number of constraints. The rows from this one to [`Circuit::rows`] belong to the instance wires.
    pub(crate) constraints: usize,
    /// The only row whose right side contains x.
    pub(crate) signal_row: usize,
    /// Coefficient of x in the right side of `signal_row`.
    pub(crate) signal_coefficient: Fr,
}

impl Circuit {
    /// Derives the structure from the proving key and the witness calculator.
    ///
    /// # Errors
    /// [`Defect::Shape`] when the sizes differ, or unless x and y enter as the token's algebra requires:
    /// x is the only wire of exactly one right side, y is in no right side, and neither is in a left
    /// side.
    pub(crate) fn new(key: &ProvingKey, graph: &WitnessGraph) -> Result<Self, Defect> {
        let split = graph.split();
        let constraints = key.left.rows();
        if split.wires.len() != key.a.len() || key.right.rows() != constraints {
            return Err(Defect::Shape);
        }
        let of_message = |wire: u32| matches!(split.wires[wire as usize], Wire::Message(_));
        let message_wires = (0..split.wires.len() as u32)
            .filter(|wire| of_message(*wire))
            .collect();
        let touched = |row: &usize| {
            let entries = key.left.row(*row).iter().chain(key.right.row(*row));
            entries.into_iter().any(|(_, wire)| of_message(*wire))
        };
        let message_rows = (0..constraints)
            .filter(touched)
            .chain((0..INSTANCE_WIRES).map(|wire| constraints + wire))
            .map(|row| row as u32)
            .collect();
        let on_signal = |(_, wire): &(Fr, u32)| [WIRE_X, WIRE_Y].contains(&(*wire as usize));
        let in_left = (0..constraints).any(|row| key.left.row(row).iter().any(on_signal));
        let mut in_right = (0..constraints).filter(|row| key.right.row(*row).iter().any(on_signal));
        let (false, Some(signal_row), None) = (in_left, in_right.next(), in_right.next()) else {
            return Err(Defect::Shape);
        };
        let [(signal_coefficient, wire)] = *key.right.row(signal_row) else {
            return Err(Defect::Shape);
        };
        // y is in no right side, so its points of B must be infinity: tokens leave them out.
        let y_in_b = !key.b_g1[WIRE_Y].infinity || !key.b_g2[WIRE_Y].infinity;
        if wire as usize != WIRE_X || y_in_b {
            return Err(Defect::Shape);
        }
        Ok(Self {
            inputs: graph.inputs,
            split,
            message_wires,
            message_rows,
            constraints,
            signal_row,
            signal_coefficient,
        })
    }

    /// Number of rows: the constraints, then one for each instance wire, on the left side only.
    pub(crate) fn rows(&self) -> usize {
        self.constraints + INSTANCE_WIRES
    }

    /// Values of the left and right side of a row.
    pub(crate) fn row(&self, key: &ProvingKey, row: usize, wires: &[Fr]) -> (Fr, Fr) {
        match row.checked_sub(self.constraints) {
            Some(wire) => (wires[wire], Fr::ZERO),
            None => (key.left.value(row, wires), key.right.value(row, wires)),
        }
    }

    /// Inputs of the witness calculator for a member; those of the message are 0.
    pub(crate) fn member_inputs(
        &self,
        secret: Fr,
        limit: u32,
        siblings: &[Fr],
        is_right_child: impl Fn(usize) -> bool,
    ) -> Vec<Fr> {
        let mut inputs = vec![Fr::ZERO; self.inputs.count];
        inputs[0] = Fr::ONE;
        inputs[self.inputs.identity_secret as usize] = secret;
        inputs[self.inputs.limit as usize] = Fr::from(limit);
        for (level, sibling) in siblings.iter().enumerate() {
            inputs[self.inputs.path_elements as usize + level] = *sibling;
            inputs[self.inputs.path_bits as usize + level] = Fr::from(is_right_child(level));
        }
        inputs
    }
}
