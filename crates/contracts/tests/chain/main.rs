//! The membership contract on a real chain: anvil, started by each test for itself.

mod abi;
mod fuzz;
mod life;
mod model;
mod roots;
mod slashing;
mod tree;
mod world;
