//! Empty: assembling a node is tested in `tests/it/assembled`.
