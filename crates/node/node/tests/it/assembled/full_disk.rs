//! A node whose disk is full when it starts.

use undertone_node::assemble::{AssembleError, assemble};

use crate::support::Place;
use crate::support::small_disk::SmallDisk;

#[tokio::test]
#[ignore = "mounts a tmpfs; cargo xtask test --only unit"]
async fn c16_a_full_disk_is_told_as_such() {
    let place = Place::new();
    let disk = SmallDisk::mount(&place, 256);
    disk.fill();
    let error = match assemble(&place.config(&[], &[])).await {
        Err(error) => error,
        Ok(_) => panic!("it started on a full disk"),
    };
    assert!(matches!(error, AssembleError::NoSpace { .. }), "{error}");
    let said = error.to_string();
    let folder = place.folder.path().to_str().unwrap();
    for part in [folder, "no space left", "--data-dir"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!place.path("node-key").exists(), "no half of a key is left");

    disk.make_room();
}
