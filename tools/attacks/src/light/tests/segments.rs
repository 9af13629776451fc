use super::*;

#[test]
fn segments_are_read_by_name() {
    let text = "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
        Tcp: ActiveOpens OutSegs RetransSegs InErrs\nTcp: 7 1000 81 0\n";
    let read = SegmentCount::parse(text);
    let earlier = SegmentCount {
        sent: 400,
        again: 1,
    };
    let since = read.unwrap().since(earlier);
    assert_eq!(since.to_string(), "600 TCP segments sent, 80 sent again");
    assert_eq!(SegmentCount::parse("Udp: InErrors\nUdp: 0\n"), None);
}
