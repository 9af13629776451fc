//! Sans-IO network emulation.
