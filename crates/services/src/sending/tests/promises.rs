//! Single promises, one test each.
