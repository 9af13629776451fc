//! What the constraints and the witness calculator say about each other: which wires and rows a
//! message decides, and how the signal enters.

use ark_ff::{AdditiveGroup, Field};

use crate::arkzkey::{Defect, ProvingKey};
use crate::field::Fr;
use crate::graph::{Graph, Inputs, Split, Wire};
use crate::key::PUBLIC_INPUTS;

/// Wires of the public inputs, in the verifier's order after the constant 1.
pub(crate) const WIRE_Y: usize = 1;
pub(crate) const WIRE_ROOT: usize = 2;
pub(crate) const WIRE_NULLIFIER: usize = 3;
pub(crate) const WIRE_X: usize = 4;

/// The constant 1 and the public inputs.
pub(crate) const INSTANCE_WIRES: usize = PUBLIC_INPUTS + 1;

/// The constraint system, cut by what a message decides.
#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) inputs: Inputs,
    pub(crate) split: Split,
    /// Wires that depend on external nullifier, message id or signal, ascending.
    pub(crate) message_wires: Vec<u32>,
    /// Rows in which one of those wires occurs, ascending; with the rows of the public inputs.
    pub(crate) message_rows: Vec<u32>,
    /// Number of constraints; the rows from here on to `rows` are the instance wires' own.
    pub(crate) constraints: usize,
    /// The only row whose right side contains x, and the coefficient there.
    pub(crate) signal_row: usize,
    pub(crate) signal_coefficient: Fr,
}

impl Circuit {
    /// Joins the two artefacts.
    ///
    /// # Errors
    /// [`Defect::Shape`] unless x and y enter as the token's algebra needs: x in one right side, of
    /// which it is the only wire, neither of them in another, nor in a left side.
    pub(crate) fn new(key: &ProvingKey, graph: &Graph) -> Result<Self, Defect> {
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

    /// Both sides of a row.
    pub(crate) fn row(&self, key: &ProvingKey, row: usize, wires: &[Fr]) -> (Fr, Fr) {
        match row.checked_sub(self.constraints) {
            Some(wire) => (wires[wire], Fr::ZERO),
            None => (key.left.value(row, wires), key.right.value(row, wires)),
        }
    }

    /// The graph's inputs for a member; those of the message are 0.
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
