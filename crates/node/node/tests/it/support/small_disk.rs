//! A disk that is soon full.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use super::Place;

/// A small file system of its own in a node's folder; ends with this.
pub(crate) struct SmallDisk<'a> {
    place: &'a Place,
}

impl<'a> SmallDisk<'a> {
    /// Mounts a file system of `kib` KiB.
    pub(crate) fn mount(place: &'a Place, kib: usize) -> Self {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"]);
        let mounted = mount.arg(place.folder.path()).output().unwrap();
        assert!(mounted.status.success(), "{mounted:?}");
        Self { place }
    }

    /// Fills the disk to the last byte.
    pub(crate) fn fill(&self) {
        let mut filler = fs::File::create(self.place.path("filler")).unwrap();
        while filler.write(&[1; 64 << 10]).is_ok() {}
    }

    /// Removes what filled the disk.
    pub(crate) fn make_room(&self) {
        fs::remove_file(self.place.path("filler")).unwrap();
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
