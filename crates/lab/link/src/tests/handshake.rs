use super::*;

const RECORDED: [(&str, &str); 3] = [
    (
        "undertone",
        include_str!("../../measured/handshakes/undertone.csv"),
    ),
    ("rust", include_str!("../../measured/handshakes/rust.csv")),
    ("js", include_str!("../../measured/handshakes/js.csv")),
];

#[test]
fn each_profile_has_the_writes_that_were_recorded() {
    for (profile, (name, csv)) in HANDSHAKES.iter().zip(RECORDED) {
        assert_eq!(profile.name, name);
        let writes_of = |end: &str| -> Vec<u32> {
            let rows = csv.lines().skip(1).map(|line| line.split(',').collect());
            let of_end = rows.filter(|cells: &Vec<&str>| cells[1] == end);
            of_end.map(|cells| cells[2].parse().unwrap()).collect()
        };
        assert_eq!(profile.dialler_bytes, writes_of("dialler"), "{name}");
        assert_eq!(profile.listener_bytes, writes_of("listener"), "{name}");
    }
}

#[test]
fn every_write_is_a_packet_of_its_own_or_several() {
    let profile = HandshakeProfile {
        name: "made up",
        round_trips: 2,
        dialler_bytes: &[10, 1460, 1461],
        listener_bytes: &[],
        source: "",
    };
    let sent = profile.sent_before(&Profile::SHADOW, true);
    assert_eq!(
        (sent.packets, sent.wire_bytes),
        (4, 10 + 1460 + 1461 + 4 * 40)
    );
    assert_eq!(
        profile.sent_before(&Profile::SHADOW, false),
        SentBefore::default()
    );
}
