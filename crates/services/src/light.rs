//! Light client: filter subscriptions and publishing through service peers, of which any may vanish, sleep or lie.
