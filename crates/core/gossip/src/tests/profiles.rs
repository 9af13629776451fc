//! Profiles of other implementations: what each does differently, seen from outside.

use super::raw;
use super::solo::{Solo, TOPIC, cancels, outbound, peer, receivers, said, sends};
use crate::{Config, FloodPublish, Input, MessageId, PROFILES, PeerIx, RouterPolicy};

fn config(profile: &str) -> Config {
    let mut config = Config::waku();
    let known = PROFILES.iter().find(|known| known.name == profile).unwrap();
    known.apply(&mut config, true);
    config.validate().unwrap();
    config
}

/// A router whose mesh has the first `outbound_count` members outbound and the others inbound, one more than D_high.
fn crowded(profile: &str, outbound_count: u32) -> Solo {
    let mut solo = Solo::joined(config(profile));
    (outbound_count..8).for_each(|n| solo.mesh_peer(peer(n)));
    (0..outbound_count).for_each(|n| solo.mesh_peer(outbound(n)));
    if outbound_count == 0 {
        return solo;
    }
    solo.mesh_peer(outbound(8));
    solo
}

#[test]
fn the_first_profile_is_this_router_and_changes_nothing() {
    assert_eq!(config("undertone"), Config::waku());
    assert_eq!(Config::waku().policy, RouterPolicy::default());
    assert_eq!(PROFILES[0].name, RouterPolicy::default().profile);
}

#[test]
fn each_profile_says_its_name_and_source() {
    for profile in PROFILES {
        assert_eq!(config(profile.name).policy.profile, profile.name);
        assert!(!profile.source.is_empty(), "{}", profile.name);
    }
}

#[test]
fn a_networks_preset_keeps_its_degrees_and_the_specifications_does_not() {
    let nim = PROFILES.iter().find(|known| known.name == "nim").unwrap();
    let mut config = Config::waku();
    nim.apply(&mut config, true);
    assert_eq!(config.degrees, Config::waku().degrees);
    let mut config = Config::libp2p();
    nim.apply(&mut config, false);
    assert_eq!((config.degrees.d_score, config.degrees.d_out), (4, 3));
}

/// D is 6, D_high 8, and D_score 6. Of nine members nim examines the three that are not among the best: all inbound
/// ones are pruned, and the outbound ones stay, as there are no more than D_out of them.
#[test]
fn nim_prunes_to_no_certain_size() {
    let mut solo = crowded("nim", 4);
    assert_eq!(solo.mesh().len(), 9);
    solo.heartbeat();
    let mesh = solo.mesh();
    assert!((6..9).contains(&mesh.len()), "{mesh:?}");
    assert!([0, 1, 2, 3, 8].iter().all(|n| mesh.contains(n)), "{mesh:?}");
    let mut of_outbound = crowded("nim", 8);
    assert_eq!(of_outbound.mesh().len(), 9);
    of_outbound.heartbeat();
    assert_eq!(
        of_outbound.mesh().len(),
        9,
        "outbound members up to D_out are kept"
    );
    let mut own = crowded("undertone", 8);
    own.heartbeat();
    assert_eq!(own.mesh().len(), 6);
}

#[test]
fn go_and_rust_prune_a_mesh_that_has_reached_d_high() {
    for (profile, members) in [("go", 6), ("rust", 6), ("js", 8), ("undertone", 8)] {
        let mut solo = crowded(profile, 0);
        solo.heartbeat();
        assert_eq!(solo.mesh().len(), members, "{profile}");
    }
}

#[test]
fn go_grafts_newcomers_only_at_its_heartbeat() {
    for profile in PROFILES {
        let mut solo = Solo::joined(config(profile.name));
        solo.subscriber(peer(0));
        let at_once = usize::from(profile.name != "go");
        assert_eq!(solo.mesh().len(), at_once, "{}", profile.name);
        // Rust's first heartbeat comes after five seconds.
        (0..6).for_each(|_| drop(solo.heartbeat()));
        assert_eq!(solo.mesh().len(), 1, "{}", profile.name);
    }
}

/// How many of three holders are asked at once for a message whose copy may be coming in.
#[test]
fn others_ask_while_a_copy_comes_in_and_most_ask_every_holder() {
    for (profile, asked) in [
        ("undertone", 0),
        ("rust", 1),
        ("nim", 3),
        ("go", 3),
        ("js", 3),
    ] {
        let mut solo = Solo::joined(config(profile));
        for n in 0..4 {
            solo.subscriber(peer(n));
            solo.frame(n, raw::prune(TOPIC, Some(3_600), &[]));
        }
        solo.input(Input::TransferStarted(PeerIx(3)));
        let ids = [MessageId::of(b"m")];
        let asks = (0..3).filter(|n| {
            let outputs = solo.frame(*n, raw::ihave(TOPIC, &ids));
            !said(&outputs, *n).iwant.is_empty()
        });
        assert_eq!(asks.count(), asked, "{profile}");
    }
}

#[test]
fn an_idontwant_reaches_queued_copies_only_where_the_queue_knows_ids() {
    let data = [7; 2_000];
    for profile in PROFILES {
        let mut solo = Solo::joined(config(profile.name));
        (0..4).for_each(|n| solo.mesh_peer(outbound(n)));
        let sent = solo.deliver(0, &data);
        assert_eq!(receivers(&sent).len(), 3, "{}", profile.name);
        let told = solo.frame(1, raw::idontwant(&[MessageId::of(&data)]));
        let cancelled = usize::from(matches!(profile.name, "undertone" | "rust"));
        assert_eq!(cancels(&told).len(), cancelled, "{}", profile.name);
    }
}

#[test]
fn the_order_of_copies_changes_only_where_sets_have_none() {
    for profile in PROFILES {
        let mut config = config(profile.name);
        config.flood_publish = FloodPublish::On;
        let mut solo = Solo::joined(config);
        (0..12).for_each(|n| drop(solo.subscriber(peer(n))));
        let orders: Vec<Vec<_>> = (0_u8..5)
            .map(|n| {
                let sent = sends(&solo.publish(&[n; 100]));
                sent.into_iter().map(|(peer, ..)| peer).collect()
            })
            .collect();
        let is_fixed = orders.iter().all(|order| *order == orders[0]);
        let is_random = matches!(profile.name, "go" | "rust");
        assert_eq!(is_fixed, !is_random, "{}", profile.name);
    }
}
