//! Filter v2: messages pushed to light clients by content topic.
