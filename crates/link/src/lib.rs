//! Sans-IO network emulation.

pub mod packet;
