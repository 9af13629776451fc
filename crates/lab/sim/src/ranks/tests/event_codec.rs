//! Tests of the encoding of events.

use undertone_link::Segment;

use super::*;

fn burst(frame: Option<Bytes>) -> Box<Burst<Bytes>> {
    Box::new(Burst {
        seq: 300,
        packets: 2,
        window: 10,
        wire_bytes: 2980,
        lasts_ns: 120_000,
        missing: 1,
        dropped: 1,
        ack_wanted: true,
        repair: false,
        whole: true,
        ends_mux_frame: true,
        begins_bytes: 2012,
        frame,
    })
}

/// One event of every kind that crosses ranks.
fn events() -> Vec<Scheduled<Event>> {
    let frame = Bytes::from(vec![7; 1000]);
    let segments = [
        Segment::Burst(burst(Some(frame.clone()))),
        Segment::Burst(burst(Some(frame))),
        Segment::Burst(burst(Some(Bytes::from_static(b"short")))),
        Segment::Burst(burst(None)),
        Segment::Ack(3),
        Segment::WindowUpdate(70_000),
        Segment::Loss {
            seq: 1,
            dropped: 2,
            ack_wanted: true,
            later: 3,
        },
    ];
    let conn = ConnIx(9);
    let arrivals = segments.map(|segment| Event::Arrival(Arrival { conn, segment }));
    let accepted = LightEvent::Accepted {
        node: 5,
        conn: ConnIx(6),
        remote_conn: ConnIx(130),
    };
    let others = [
        Event::Closed(conn),
        Event::Service(ServiceEvent::Dial { client: 40, conn }),
        Event::Light(accepted),
        Event::Light(LightEvent::Refused { conn }),
    ];
    let all = arrivals.into_iter().chain(others).zip(0..);
    all.map(|(event, count)| Scheduled {
        key: EventKey::new(5_000_000_000 + u64::from(count), u32::MAX, count),
        node: 1000 + count,
        event,
    })
    .collect()
}

fn written(events: &[Scheduled<Event>]) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, events);
    out
}

fn read_back(section: &[u8], held: &HeldFrames) -> Result<Vec<Scheduled<Event>>, Unreadable> {
    let mut events = Vec::new();
    read(section, held, |event| {
        events.push(event);
        Ok(())
    })?;
    Ok(events)
}

fn frames(events: &[Scheduled<Event>]) -> Vec<Bytes> {
    let frames = events
        .iter()
        .filter_map(|scheduled| match &scheduled.event {
            Event::Arrival(Arrival {
                segment: Segment::Burst(burst),
                ..
            }) => burst.frame.clone(),
            _ => None,
        });
    frames.collect()
}

#[test]
fn every_event_comes_back_as_it_was() {
    let events = events();
    let back = read_back(&written(&events), &HeldFrames::default()).unwrap();
    assert_eq!(format!("{events:?}"), format!("{back:?}"));
    assert_eq!(written(&[]), [0; 0]);
    assert!(read_back(&[], &HeldFrames::default()).unwrap().is_empty());
}

#[test]
fn a_message_is_written_once_and_held_once() {
    let section = written(&events());
    assert!(section.len() < 2 * 1000, "{} bytes", section.len());
    let held = HeldFrames::default();
    let (now, later) = (read_back(&section, &held), read_back(&section, &held));
    let (now, later) = (frames(&now.unwrap()), frames(&later.unwrap()));
    assert_eq!(now[0].as_ptr(), now[1].as_ptr());
    assert_eq!(now[0].as_ptr(), later[0].as_ptr());
}

/// The bytes of one section, which programs of one version must agree on.
#[test]
fn the_encoding_is_this_one() {
    let mut events = events();
    let few = [events.remove(10), events.remove(4), events.remove(2)];
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let golden = concat!(
        "01",
        "05",
        "73686f7274", // one frame: its length, "short"
        "03",         // three events: time, cause, number, node, kind, content
        "8ae497d012",
        "ffffffff0f",
        "0a",
        "f207",
        "07",
        "09",
        "84e497d012",
        "ffffffff0f",
        "04",
        "ec07",
        "01",
        "09",
        "03",
        "82e497d012",
        "ffffffff0f",
        "02",
        "ea07",
        "00",
        "09",
        "1d",
        "ac02",
        "02",
        "0a",
        "a417",
        "c0a907",
        "01",
        "01",
        "dc0f",
        "00",
    );
    assert_eq!(hex(&written(&few)), golden);
}

#[test]
fn a_section_that_is_cut_or_changed_is_refused_or_read_but_never_trusted_with_memory() {
    let section = written(&events());
    for len in 1..section.len() {
        assert!(
            read_back(&section[..len], &HeldFrames::default()).is_err(),
            "{len}"
        );
    }
    let mut longer = section.clone();
    longer.push(0);
    assert!(read_back(&longer, &HeldFrames::default()).is_err());
    for at in 0..section.len() {
        for value in [0, 0x7f, 0xff] {
            let mut changed = section.clone();
            changed[at] = value;
            let _ = read_back(&changed, &HeldFrames::default());
        }
    }
    // A frame count far beyond the bytes that follow.
    assert!(read_back(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0], &HeldFrames::default()).is_err());
}
