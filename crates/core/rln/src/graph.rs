//! The witness calculator: the circuit's wires as a list of field operations.
//!
//! [`WitnessGraph`] is `graph.bin` as stored. [`WitnessGraph::split`] divides the graph into two programs: one for
//! the values that depend only on a member's secret, limit and path, run once per path, and one for
//! those that depend on a message's external nullifier, message id or signal, run once per proof.

use ark_ff::{AdditiveGroup, BigInteger, PrimeField};
use ark_std::Zero;

use crate::field::Fr;

mod parse;
mod split;

pub(crate) use parse::parse;
pub(crate) use split::{Split, Wire};

/// One operation of a program. Operands are the positions of earlier values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GraphNode {
    Input(u32),
    Constant(Fr),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    /// First operand as an integer, shifted right by the second.
    ShiftRight(u32, u32),
    /// Bitwise AND of the operands as integers.
    BitAnd(u32, u32),
}

/// Sequence of operations, each on values computed earlier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    nodes: Vec<GraphNode>,
}

/// Positions of the circuit's inputs among a graph's inputs; input 0 is the constant 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub(crate) x: u32,
    pub(crate) external_nullifier: u32,
    pub(crate) message_id: u32,
    pub(crate) identity_secret: u32,
    pub(crate) limit: u32,
    /// First of the path's siblings; there is one for each level of the tree.
    pub(crate) path_elements: u32,
    /// First of the path's direction bits; there is one for each level of the tree.
    pub(crate) path_bits: u32,
    /// Number of inputs, including the constant.
    pub(crate) count: usize,
}

/// The witness calculator as stored in the file.
#[derive(Debug)]
pub(crate) struct WitnessGraph {
    pub(crate) program: Program,
    /// Position in the program of each wire's value.
    pub(crate) wires: Vec<u32>,
    pub(crate) inputs: Inputs,
}

impl Program {
    /// Computes all values of the program, in order.
    pub(crate) fn run(&self, inputs: &[Fr]) -> Vec<Fr> {
        let mut values = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let at = |operand: u32| -> Fr { values[operand as usize] };
            let value = match *node {
                GraphNode::Input(input) => inputs[input as usize],
                GraphNode::Constant(constant) => constant,
                GraphNode::Add(a, b) => at(a) + at(b),
                GraphNode::Sub(a, b) => at(a) - at(b),
                GraphNode::Mul(a, b) => at(a) * at(b),
                GraphNode::ShiftRight(a, b) => shift_right(at(a), at(b)),
                GraphNode::BitAnd(a, b) => bit_and(at(a), at(b)),
            };
            values.push(value);
        }
        values
    }
}

impl GraphNode {
    fn operands(self) -> [Option<u32>; 2] {
        match self {
            Self::Input(_) | Self::Constant(_) => [None; 2],
            Self::Add(a, b)
            | Self::Sub(a, b)
            | Self::Mul(a, b)
            | Self::ShiftRight(a, b)
            | Self::BitAnd(a, b) => [Some(a), Some(b)],
        }
    }

    fn map_operands(self, to: impl Fn(u32) -> u32) -> Self {
        match self {
            Self::Input(_) | Self::Constant(_) => self,
            Self::Add(a, b) => Self::Add(to(a), to(b)),
            Self::Sub(a, b) => Self::Sub(to(a), to(b)),
            Self::Mul(a, b) => Self::Mul(to(a), to(b)),
            Self::ShiftRight(a, b) => Self::ShiftRight(to(a), to(b)),
            Self::BitAnd(a, b) => Self::BitAnd(to(a), to(b)),
        }
    }
}

fn shift_right(value: Fr, by: Fr) -> Fr {
    let by = by.into_bigint();
    if by.num_bits() > 8 {
        return Fr::ZERO;
    }
    let shifted = value.into_bigint() >> by.0[0] as u32;
    Fr::from_bigint(shifted).expect("a shifted element is smaller than the element")
}

/// Bitwise AND as circom defines it. No reduction is needed: the common bits of two integers are at
/// most the smaller of the two.
fn bit_and(a: Fr, b: Fr) -> Fr {
    if a.is_zero() || b.is_zero() {
        return Fr::ZERO;
    }
    let common = a.into_bigint() & b.into_bigint();
    Fr::from_bigint(common).expect("the common bits of two elements are no more than either")
}

#[cfg(test)]
#[path = "tests/graph.rs"]
mod tests;
