use super::*;

#[test]
fn addresses_and_indices_are_one_to_one() {
    assert_eq!(address(0), Ipv4Addr::new(10, 0, 0, 1));
    assert_eq!(address(254), Ipv4Addr::new(10, 0, 0, 255));
    assert_eq!(address(MAX_HOSTS - 1), Ipv4Addr::new(10, 255, 255, 254));
    for index in [0, 1, 254, 255, 65_535, MAX_HOSTS - 1] {
        assert_eq!(index_of(address(index)), Some(index));
    }
}

#[test]
fn other_addresses_are_nobody() {
    assert_eq!(index_of(Ipv4Addr::new(10, 0, 0, 0)), None);
    assert_eq!(index_of(Ipv4Addr::new(11, 0, 0, 1)), None);
    assert_eq!(index_of(Ipv4Addr::BROADCAST), None);
}
