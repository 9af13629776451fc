use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use super::{PAYLOAD_BYTES_MAX, read, write};
use crate::{ContentDefect, SealError, SecretKey};

fn signer() -> SecretKey {
    SecretKey::from_slice(&[3; 32]).unwrap()
}

fn written(payload: &[u8], signer: Option<&SecretKey>) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    write(payload, signer, &mut rng).unwrap().to_vec()
}

/// The payload as RFC 26 describes it, read byte by byte, without its signature.
fn naive(content: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = content.iter().copied();
    let flags = bytes.next()?;
    let mut length = 0;
    for place in 0..flags % 4 {
        length += usize::from(bytes.next()?) << (8 * u32::from(place));
    }
    if flags % 4 == 0 {
        return None;
    }
    let rest: Vec<u8> = bytes.collect();
    let payload = rest.get(..length)?;
    Some(payload.to_vec())
}

#[test]
fn contents_are_whole_blocks_with_padding_in_each() {
    for length in 0..600 {
        for signer in [None, Some(&signer())] {
            let content = written(&vec![9; length], signer);
            assert_eq!(content.len() % 256, 0, "{length}");
            let used = length + 2 + usize::from(length > 255) + 65 * usize::from(signer.is_some());
            assert!(content.len() > used, "{length}");
            assert!(content.len() <= used + 256, "{length}");
        }
    }
}

#[test]
fn padding_is_random() {
    let content = written(b"x", None);
    let padding = &content[3..];
    assert!(padding.iter().any(|byte| *byte != padding[0]));
}

#[test]
fn a_payload_whose_length_does_not_fit_is_refused() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let longest = write(&vec![0; PAYLOAD_BYTES_MAX], None, &mut rng).unwrap();
    assert_eq!(longest[..4], [3, 255, 255, 255]);
    let size_bytes = PAYLOAD_BYTES_MAX + 1;
    let refused = write(&vec![0; size_bytes], None, &mut rng).map(|_| ());
    assert_eq!(refused, Err(SealError::PayloadTooLarge { size_bytes }));
}

#[test]
fn what_an_author_can_do_wrong_is_named() {
    let too_short = |size_bytes, min_bytes| ContentDefect::TooShort {
        size_bytes,
        min_bytes,
    };
    let beyond = |payload_bytes, content_bytes| ContentDefect::PayloadBeyondEnd {
        payload_bytes,
        content_bytes,
    };
    let signed_but_empty = [vec![0b101, 0], vec![0; 65]].concat();
    let within_the_signature = [vec![0b101, 1], vec![0; 65]].concat();
    let mut signed = written(b"x", Some(&signer()));
    let last = signed.len() - 1;
    signed[last] = 4;
    for (content, defect) in [
        (vec![], too_short(0, 1)),
        (vec![0], ContentDefect::NoLength),
        (vec![0b100, 1, 2, 3], ContentDefect::NoLength),
        (vec![1], too_short(1, 2)),
        (vec![3, 0, 0], too_short(3, 4)),
        (vec![0b101; 66], too_short(66, 67)),
        (vec![1, 1], beyond(1, 0)),
        (vec![3, 255, 255, 255, 1], beyond(PAYLOAD_BYTES_MAX, 1)),
        (signed_but_empty, ContentDefect::Signature),
        (within_the_signature, beyond(1, 0)),
        (signed, ContentDefect::Signature),
    ] {
        assert_eq!(read(content.clone()), Err(defect), "{content:?}");
    }
}

#[test]
fn a_changed_payload_is_no_longer_the_signers() {
    let mut content = written(b"pay 1", Some(&signer()));
    assert_eq!(
        read(content.clone()).unwrap().signed_by,
        Some(signer().public_key())
    );
    content[6] ^= 1;
    let by = read(content).map(|opened| opened.signed_by);
    assert_ne!(by, Ok(Some(signer().public_key())));
}

#[test]
fn higher_flags_are_left_to_later_versions() {
    let mut content = written(b"x", None);
    content[0] |= 0b1111_1000;
    assert_eq!(read(content).unwrap().payload, b"x");
}

proptest! {
    #[test]
    fn any_content_is_read_as_the_model_reads_it(content: Vec<u8>) {
        let is_signed = content.first().is_some_and(|flags| flags & 4 != 0);
        match read(content.clone()) {
            Ok(opened) => prop_assert_eq!(Some(opened.payload), naive(&content)),
            Err(_) if is_signed => {}
            Err(_) => prop_assert_eq!(naive(&content), None),
        }
    }

    #[test]
    fn what_is_written_is_read(payload: Vec<u8>, is_signed: bool) {
        let signer = signer();
        let opened = read(written(&payload, is_signed.then_some(&signer))).unwrap();
        prop_assert_eq!(opened.payload, payload);
        prop_assert_eq!(opened.signed_by, is_signed.then(|| signer.public_key()));
    }
}

#[test]
fn debug_output_has_no_payload() {
    let opened = read(written(b"attack at dawn", None)).unwrap();
    let shown = format!("{opened:?}");
    assert_eq!(shown, "Opened { payload_bytes: 14, signed_by: None }");
}
