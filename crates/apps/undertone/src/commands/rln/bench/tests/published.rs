use super::*;

#[test]
fn the_vendored_tables_are_whole() {
    let published = Published::vendored();
    assert_eq!(published.platforms.len(), 5);
    assert_eq!(
        published.platforms[2],
        Platform {
            platform: "Digital Ocean 8GB/4CPU",
            generation_ms: 276.3,
            verification_ms: 4.5,
        }
    );
    assert_eq!(published.hashing.len(), 4);
    assert_eq!(
        published.hashing[3],
        Hashing {
            size_kb: 500,
            hashing_ms: 1.222_206,
        }
    );
    let tree = published.key_benchmark("tree_size_10k_members").unwrap();
    assert_eq!((tree.value, tree.unit), (2.0, "MB"));
}
