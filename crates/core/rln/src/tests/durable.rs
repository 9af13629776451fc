use super::*;

#[test]
fn a_file_is_read_up_to_its_bound_and_not_beyond() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (length, max_bytes, is_read) in [(0, 0, true), (9, 9, true), (9, 8, false), (9, 0, false)] {
        fs::write(&path, vec![b'x'; length]).unwrap();
        let read = read_bounded(&path, max_bytes).map_err(|error| error.kind());
        match is_read {
            true => assert_eq!(read, Ok(vec![b'x'; length])),
            false => assert_eq!(read, Err(io::ErrorKind::FileTooLarge)),
        }
    }
    fs::write(&path, [0xff]).unwrap();
    let error = read_bounded_text(&path, 9).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_without_waiting_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for path in [Path::new("/dev/zero"), folder.path(), &pipe] {
        let error = read_bounded(path, 9).unwrap_err();
        assert_eq!(
            error.kind(),
            io::ErrorKind::InvalidInput,
            "{}",
            path.display()
        );
    }
    let error = read_bounded(&folder.path().join("missing"), 9).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn what_cannot_be_replaced_leaves_nothing_new_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    replace(&path, b"old").unwrap();
    replace(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    // A file cannot replace a folder, even for root.
    let obstacle = folder.path().join("folder");
    fs::create_dir(&obstacle).unwrap();
    replace(&obstacle, b"secret").unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
