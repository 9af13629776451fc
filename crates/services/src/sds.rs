//! Scalable data sync (SDS): causal order, acknowledgement and repair between the members of a channel.
