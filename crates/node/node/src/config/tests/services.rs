//! Keys of the services.

use super::load_flags;

/// Address of a peer whose services can be used.
pub(super) const PEER: &str =
    "/ip4/127.0.0.1/tcp/1/p2p/16Uiu2HAmLXRwTakJ7ebpqUDRGaj78V2W8AAarzBrJe3E1HKJX7ik";

#[test]
fn a_service_is_asked_of_a_peer_that_is_known() {
    for key in ["storenode", "filternode", "lightpushnode"] {
        let error = load_flags(&[(key, "/ip4/127.0.0.1/tcp/1")]).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(key) && said.contains("/p2p/"), "{said}");
        load_flags(&[(key, PEER)]).unwrap();
    }
}

#[test]
fn a_node_without_relay_serves_a_store_and_says_what_it_does_not_serve() {
    let config = load_flags(&[("relay", "false"), ("store", "true")]).unwrap();
    let services = &config.services;
    assert!(!config.relay && !services.filter && !services.lightpush);
    assert!(services.store.is_some() && services.warning().is_none());
    assert!(!services.rendezvous && load_flags(&[]).unwrap().services.rendezvous);
    for key in ["filter", "lightpush", "lightpush-proofs"] {
        let warning = |flags: &[_]| load_flags(flags).unwrap().services.warning();
        let said = warning(&[("relay", "false"), (key, "true")]).unwrap();
        let expected = format!("{key}: not served, because relay is false; set relay = true");
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(warning(&[("relay", "false"), (key, "false")]), None);
        assert_eq!(warning(&[(key, "true")]), None);
    }
}

#[test]
fn synchronisation_and_resume_need_a_store() {
    for key in ["store-sync", "store-resume"] {
        let said = load_flags(&[(key, "true")]).unwrap_err().to_string();
        assert!(
            said.contains(key) && said.contains("store = true"),
            "{said}"
        );
        load_flags(&[(key, "true"), ("store", "true")]).unwrap();
        load_flags(&[(key, "false")]).unwrap();
    }
    let flags = [("store", "true"), ("store-sync", "true")];
    let store = load_flags(&flags).unwrap().services.store.unwrap();
    let sync = store.sync.unwrap();
    let defaults = (sync.interval_s, sync.range_s, sync.relay_jitter_s);
    assert_eq!(defaults, (300, 3600, 20), "as nwaku has them");
}
