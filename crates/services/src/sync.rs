//! Store synchronisation: two archives find and exchange the messages that only one of them has.
