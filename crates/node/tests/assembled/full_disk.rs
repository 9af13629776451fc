//! A node whose disk is full when it starts.

use std::fs;
use std::process::Command;

use undertone_node::assemble::{AssembleError, assemble};

use crate::support::Place;

/// A small file system of its own in a folder; ends with this.
struct SmallDisk<'a> {
    place: &'a Place,
}

impl<'a> SmallDisk<'a> {
    /// `None` where nothing may be mounted.
    fn mount(place: &'a Place) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]);
        let mounted = mount.arg(place.folder.path()).output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then_some(Self { place })
    }

    fn fill(&self) {
        // As far as it goes: that it ends with an error is the purpose.
        let _ = fs::write(self.place.path("filler"), vec![1; 512 << 10]);
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        // Fails at worst with the folder left behind.
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.place.folder.path())
            .output();
    }
}

#[tokio::test]
async fn c16_a_full_disk_is_told_as_such() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(&place) else {
        eprintln!("skipped: this user may not mount a tmpfs");
        return;
    };
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

    fs::remove_file(place.path("filler")).unwrap();
}
