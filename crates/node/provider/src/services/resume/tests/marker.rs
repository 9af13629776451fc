use super::*;

#[test]
fn the_time_is_read_as_it_was_written_and_a_damaged_file_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("online");
    let marker = OnlineMarker::new(path.clone());
    assert_eq!(marker.read(), None);
    marker.write(5);
    marker.write(1_700_000_000_000_000_000);
    assert_eq!(marker.read(), Some(1_700_000_000_000_000_000));
    for damaged in ["", "soon", "1.5", "99999999999999999999"] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(marker.read(), None, "{damaged}");
    }
    fs::write(&path, [0xff]).unwrap();
    assert_eq!(marker.read(), None);
    marker.write(7);
    assert_eq!(marker.read(), Some(7));
}
