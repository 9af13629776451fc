use proptest::prelude::*;

use super::*;

#[test]
fn an_epoch_turns_on_the_second() {
    let turn_ns = 600 * NS_PER_S;
    assert_eq!(Epoch::at(turn_ns - 1, 600), Epoch(0));
    assert_eq!(Epoch::at(turn_ns, 600), Epoch(1));
    assert_eq!(Epoch::at(1_700_000_000 * NS_PER_S, 600), Epoch(2_833_333));
}

#[test]
fn extreme_arguments_do_not_panic() {
    assert_eq!(Epoch::at(u64::MAX, 0), Epoch(u64::MAX / NS_PER_S));
    assert_eq!(Epoch::at(u64::MAX, u64::MAX), Epoch(0));
}

#[test]
fn each_padding_byte_is_checked() {
    for at in 8..32 {
        let mut bytes = Epoch(5).to_bytes();
        bytes[at] = 0x80;
        assert_eq!(
            Epoch::from_bytes(&bytes),
            Err(MalformedEpoch { at, value: 0x80 })
        );
    }
}

#[test]
fn golden_bytes() {
    let mut expected = [0; 32];
    expected[..4].copy_from_slice(&[0xb5, 0x3b, 0x2b, 0x00]);
    assert_eq!(Epoch(2_833_333).to_bytes(), expected);
}

proptest! {
    #[test]
    fn bytes_round_trip(number in any::<u64>()) {
        prop_assert_eq!(Epoch::from_bytes(&Epoch(number).to_bytes()), Ok(Epoch(number)));
    }
}
