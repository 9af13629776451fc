//! The relay machine on real sockets: libp2p, REST, configuration.
