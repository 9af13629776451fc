use super::*;

#[test]
fn presets_are_found_by_name() {
    for preset in PRESETS {
        assert_eq!(NetworkPreset::by_name(preset.name), Ok(preset));
    }
}

#[test]
fn the_waku_network_has_its_published_constants() {
    let twn = NetworkPreset::by_name("twn").unwrap();
    assert_eq!((twn.cluster_id, twn.num_shards.get()), (1, 8));
    assert_eq!(twn.max_message_bytes, 153_600);
    let rln = twn.rln.unwrap();
    assert_eq!(rln.generation, RlnGeneration::Hashed);
    assert_eq!((rln.epoch_size_s, rln.user_message_limit), (600, 100));
    assert_eq!((rln.root_window, rln.max_clock_gap_s), (50, 20));
    assert_eq!(twn.chain.unwrap().chain_id, 59141);
}

#[test]
fn the_older_network_differs_in_generation_only() {
    let older = NetworkPreset::by_name("twn-v0.37").unwrap();
    let rln = older.rln.unwrap();
    assert_eq!(rln.generation, RlnGeneration::Direct);
    let renamed = NetworkPreset {
        name: "twn",
        rln: Some(RlnParams {
            generation: RlnGeneration::Hashed,
            ..rln
        }),
        ..older
    };
    assert_eq!(NetworkPreset::by_name("twn"), Ok(renamed));
}

#[test]
fn a_misspelt_name_gets_a_hint() {
    let error = NetworkPreset::by_name("locla").unwrap_err();
    assert_eq!(error.nearest, "local");
    assert_eq!(
        error.to_string(),
        "no network is called \"locla\"; did you mean \"local\"? known: local, twn, twn-v0.37"
    );
}
