use super::*;

#[test]
fn addresses_and_indices_are_one_to_one() {
    let plan = AddressPlan::Private;
    let last = plan.max_hosts() - 1;
    assert_eq!(plan.first(0), Ipv4Addr::new(10, 0, 0, 1));
    assert_eq!(plan.first(254), Ipv4Addr::new(10, 0, 0, 255));
    assert_eq!(plan.first(last), Ipv4Addr::new(10, 255, 255, 254));
    for index in [0, 1, 254, 255, 65_535, last] {
        assert_eq!(plan.index_of(plan.first(index)), Some(index));
    }
    assert_eq!(plan.choice(7, 0), Some(plan.first(7)));
    assert_eq!(plan.choice(7, 1), None);
}

#[test]
fn a_host_with_a_network_has_all_addresses_in_it() {
    let plan = AddressPlan::Public;
    assert_eq!(plan.first(3), Ipv4Addr::new(45, 3, 0, 1));
    assert_eq!(plan.choice(3, 2), Some(Ipv4Addr::new(45, 3, 2, 1)));
    assert_eq!(plan.choice(3, 256), None);
    for index in [0, 1, plan.max_hosts() - 1] {
        for choice in [0, 1, 255] {
            let address = plan.choice(index, choice).unwrap();
            assert_eq!(plan.index_of(address), Some(index));
        }
    }
}

#[test]
fn other_addresses_are_nobody() {
    let plan = AddressPlan::Private;
    assert_eq!(plan.index_of(Ipv4Addr::new(10, 0, 0, 0)), None);
    assert_eq!(plan.index_of(Ipv4Addr::new(11, 0, 0, 1)), None);
    assert_eq!(plan.index_of(Ipv4Addr::BROADCAST), None);
}
