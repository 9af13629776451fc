use std::time::Duration;

use super::*;

fn header(kind: u8, stream: u32, length: u32) -> Vec<u8> {
    let mut bytes = vec![0, kind, 0, 0];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

fn frame(kind: FrameKind, length: u32) -> MuxFrame {
    MuxFrame {
        kind,
        stream: 1,
        length,
    }
}

#[test]
fn frames_are_read_whatever_portions_they_come_in() {
    let mut bytes = header(0, 1, 5);
    bytes.extend([7; 5]);
    bytes.extend(header(1, 1, 131_072));
    bytes.extend(header(0, 1, 0));
    let wanted = [
        frame(FrameKind::Data, 5),
        frame(FrameKind::WindowUpdate, 131_072),
        frame(FrameKind::Data, 0),
    ];
    for portion in 1..bytes.len() {
        let mut reader = MuxFrameReader::default();
        let portions = bytes.chunks(portion);
        let read: Vec<_> = portions.flat_map(|p| reader.read(p).unwrap()).collect();
        assert_eq!(read, wanted, "portions of {portion}");
    }
    assert!(MuxFrameReader::default().read(&header(9, 1, 0)).is_err());
}

#[test]
fn a_recording_is_divided_into_its_messages() {
    let row = |at_us, is_dialler, kind, length| WireRow {
        at_us,
        is_dialler,
        frame: frame(kind, length),
    };
    let recording = Recording {
        message_bytes: 300,
        messages: 2,
        hello_bytes: 16,
        rows: vec![
            row(1, true, FrameKind::Data, 16),
            row(2, false, FrameKind::WindowUpdate, 999),
            row(10, true, FrameKind::Data, 200),
            row(60, false, FrameKind::WindowUpdate, 128),
            row(110, true, FrameKind::Data, 100),
            row(500, true, FrameKind::Data, 300),
        ],
    };
    let seen = recording.seen();
    assert_eq!((seen[0].frames, seen[0].longest_bytes), (2, 200));
    assert_eq!((seen[0].lasts_us, seen[0].granted_bytes), (100, 128));
    assert_eq!((seen[1].frames, seen[1].updates), (1, 0));
    assert!(recording.csv().contains("\n60,listener,window,1,128\n"));
}

/// The crate's window begins at 256 KiB, and half of it is granted anew: no more than three quarters of what was sent can be
/// outstanding, whatever the time.
#[tokio::test]
async fn a_real_stream_is_held_back_by_its_window() {
    let transfer = Transfer {
        messages: 1,
        message_bytes: 600_000,
        pause: Duration::from_millis(20),
        one_way: Duration::from_millis(10),
    };
    let recording = transfer.record(Implementation::Rust).await.unwrap();
    let seen = recording.seen()[0];
    assert!(seen.longest_bytes <= 16 << 10, "{seen:?}");
    let (mut sent, mut granted) = (0, 256 << 10);
    for row in &recording.rows {
        match (row.frame.kind, row.is_dialler) {
            (FrameKind::Data, true) => sent += u64::from(row.frame.length),
            (FrameKind::WindowUpdate, false) => granted += u64::from(row.frame.length),
            _ => {}
        }
        assert!(sent <= granted, "{sent} bytes of {granted}");
    }
    assert_eq!(sent, 600_000 + recording.hello_bytes);
    assert!(
        seen.updates >= 1 && seen.granted_bytes >= 128 << 10,
        "{seen:?}"
    );
}
