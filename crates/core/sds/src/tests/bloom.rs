use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Positions and filters computed by js-waku (`@waku/sds` 0.0.8, by way of `tests/vectors/sds.mjs`).
fn vectors() -> Value {
    serde_json::from_str(include_str!("../../tests/vectors/sds.json")).unwrap()
}

#[test]
fn positions_are_those_of_js_waku() {
    let vectors = vectors();
    for case in vectors["hashes"].as_array().unwrap() {
        let word = case["word"].as_str().unwrap();
        let expected = case["positions"].as_array().unwrap().iter();
        let expected: Vec<u64> = expected.map(|it| it.as_u64().unwrap()).collect();
        let ours: Vec<u64> = positions(word).map(u64::from).collect();
        assert_eq!(ours, expected, "{word:?}");
    }
}

#[test]
fn the_encoding_is_that_of_js_waku() {
    let vectors = vectors();
    let words = vectors["hashes"].as_array().unwrap().iter();
    let filter = BloomFilter::of(words.map(|case| case["word"].as_str().unwrap()));
    let theirs = &vectors["filter"];
    let mut expected = vec![0; theirs["length"].as_u64().unwrap() as usize];
    for place in theirs["filled"].as_array().unwrap() {
        expected[place[0].as_u64().unwrap() as usize] = place[1].as_u64().unwrap() as u8;
    }
    assert_eq!(theirs["bits"], BLOOM_BITS);
    assert_eq!(theirs["hashes"], BLOOM_HASHES);
    assert!(filter.as_bytes() == expected, "the filters differ");
}

#[test]
fn a_filter_of_another_length_is_not_read() {
    for size_bytes in [0, 8, BLOOM_BYTES - 1, BLOOM_BYTES + 1, 10 * BLOOM_BYTES] {
        let read = BloomView::new(&vec![255; size_bytes]).map(|_| ());
        assert_eq!(read, Err(BloomError::WrongLength { size_bytes }));
    }
}

#[test]
fn the_fill_tells_honest_filters_from_made_up_ones() {
    let ids: Vec<String> = (0..BLOOM_CAPACITY)
        .map(|n| format!("message {n}"))
        .collect();
    let full = BloomFilter::of(ids.iter().map(String::as_str));
    let view = BloomView::new(full.as_bytes()).unwrap();
    assert!(
        (470..=500).contains(&view.fill_permille()),
        "{}",
        view.fill_permille()
    );
    assert!(ids.iter().all(|id| view.contains(id)));
    let strangers = (0..10_000)
        .filter(|n| view.contains(&format!("stranger {n}")))
        .count();
    assert!(
        strangers < 30,
        "{strangers} of 10000 strangers are taken for members"
    );

    let ones = [255; BLOOM_BYTES];
    let ones = BloomView::new(&ones).unwrap();
    assert!(ones.contains("anything"));
    assert!(ones.fill_permille() >= 1000);
}

proptest! {
    #[test]
    fn every_text_has_its_place(ids in proptest::collection::vec(".{0,40}", 1..20)) {
        let filter = BloomFilter::of(ids.iter().map(String::as_str));
        let view = BloomView::new(filter.as_bytes()).unwrap();
        prop_assert!(ids.iter().all(|id| view.contains(id)));
        prop_assert!(!BloomView::new(&[0; BLOOM_BYTES]).unwrap().contains(&ids[0]));
    }
}
