//! Division of the wires into those that depend on a message and those that a membership decides.

use super::{GraphNode, Program, WitnessGraph};

/// Source of a wire's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Position in the values of the member's program.
    Member(u32),
    /// Position in the values of the message's program.
    Message(u32),
}

/// A graph divided into a member's and a message's program.
#[derive(Debug)]
pub(crate) struct Split {
    /// The member's program. Takes the graph's inputs and does not read those of a message.
    pub(crate) member: Program,
    /// The message's program. Takes x, external nullifier and message id, then the `boundary` values.
    pub(crate) message: Program,
    /// Positions of the member's values that the message's program needs.
    pub(crate) boundary: Vec<u32>,
    /// Source of each wire of the circuit.
    pub(crate) wires: Vec<Wire>,
}

/// Number of inputs of the message's program before the boundary values.
const MESSAGE_INPUTS: u32 = 3;

impl WitnessGraph {
    /// Divides the graph into the member's and the message's program.
    pub(crate) fn split(&self) -> Split {
        let of_message = [
            self.inputs.x,
            self.inputs.external_nullifier,
            self.inputs.message_id,
        ];
        let mut split = Split {
            member: Program::default(),
            message: Program::default(),
            boundary: Vec::new(),
            wires: Vec::new(),
        };
        let mut places: Vec<Wire> = Vec::with_capacity(self.program.nodes.len());
        // Values of the member's program that were already carried over to the message's.
        let mut carried = vec![None; self.program.nodes.len()];
        for node in &self.program.nodes {
            let message_input = match node {
                GraphNode::Input(input) => of_message.iter().position(|of| of == input),
                _ => None,
            };
            let operands = node.operands();
            let on_message = |operand: &u32| matches!(places[*operand as usize], Wire::Message(_));
            let place = if let Some(position) = message_input {
                split.message.nodes.push(GraphNode::Input(position as u32));
                Wire::Message(split.message.nodes.len() as u32 - 1)
            } else if operands.iter().flatten().any(on_message) {
                for operand in operands.into_iter().flatten() {
                    if let Wire::Member(value) = places[operand as usize] {
                        carried[value as usize].get_or_insert_with(|| split.carry(value));
                    }
                }
                split.message.nodes.push(node.map_operands(|operand| {
                    match places[operand as usize] {
                        Wire::Message(value) => value,
                        Wire::Member(value) => {
                            carried[value as usize].expect("carried over in the loop above")
                        }
                    }
                }));
                Wire::Message(split.message.nodes.len() as u32 - 1)
            } else {
                split.member.nodes.push(node.map_operands(|operand| {
                    match places[operand as usize] {
                        Wire::Member(value) | Wire::Message(value) => value,
                    }
                }));
                Wire::Member(split.member.nodes.len() as u32 - 1)
            };
            places.push(place);
        }
        split.wires = self
            .wires
            .iter()
            .map(|node| places[*node as usize])
            .collect();
        split
    }
}

impl Split {
    /// Makes a value of the member's program available to the message's; returns the position there.
    fn carry(&mut self, value: u32) -> u32 {
        let node = match self.member.nodes[value as usize] {
            constant @ GraphNode::Constant(_) => constant,
            _ => {
                self.boundary.push(value);
                GraphNode::Input(MESSAGE_INPUTS + self.boundary.len() as u32 - 1)
            }
        };
        self.message.nodes.push(node);
        self.message.nodes.len() as u32 - 1
    }
}
