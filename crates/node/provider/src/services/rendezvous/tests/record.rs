use super::*;

/// Vector that py-libp2p 0.8.1 signed; the program is beside the file.
fn golden(name: &str) -> Vec<u8> {
    let line = include_str!("../../../../../../core/services/tests/vectors/rendezvous.txt")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no vector {name}"));
    hex::decode(line).unwrap()
}

fn addresses() -> Vec<Multiaddr> {
    ["/ip4/203.0.113.7/tcp/60000", "/dns4/a.example/tcp/443/wss"]
        .map(|address| address.parse().unwrap())
        .to_vec()
}

fn sealed(keypair: &Keypair, record: &WakuPeerRecord) -> Vec<u8> {
    let envelope = SignedEnvelope::new(
        keypair,
        RECORD_DOMAIN.to_owned(),
        RECORD_PAYLOAD_TYPE.to_vec(),
        record.encode(),
    );
    envelope.unwrap().into_protobuf_encoding()
}

#[test]
fn a_record_that_another_implementation_signed_is_read_in_both_forms() {
    let expected = PeerAddresses {
        peer: PeerId::from_bytes(&golden("peer")).unwrap(),
        addresses: addresses(),
    };
    for name in ["envelope", "former-envelope"] {
        let opened = PeerAddresses::open(&golden(name));
        assert_eq!(opened.as_ref(), Ok(&expected), "{name}");
        assert!(is_record_of(expected.peer, &golden(name)));
    }
}

#[test]
fn the_same_record_signed_by_the_same_key_is_the_same_envelope_but_for_the_signature() {
    let secret: Vec<u8> = (1..=32).collect();
    let secret = libp2p::identity::secp256k1::SecretKey::try_from_bytes(secret).unwrap();
    let keypair: Keypair = libp2p::identity::secp256k1::Keypair::from(secret).into();
    let signed = sign_record(&keypair, 1_700_000_000, &addresses()).unwrap();
    let theirs = golden("envelope");
    let without_signature = theirs.len() - 70;
    assert_eq!(signed[..without_signature], theirs[..without_signature]);
    let opened = PeerAddresses::open(&signed).unwrap();
    assert_eq!(opened.addresses, addresses());
}

#[test]
fn libp2p_s_own_record_is_read_as_older_releases_sign_it() {
    let keypair = Keypair::generate_secp256k1();
    let record = PeerRecord::new_interop(&keypair, addresses()).unwrap();
    let envelope = record.into_signed_envelope().into_protobuf_encoding();
    let opened = PeerAddresses::open(&envelope).unwrap();
    assert_eq!(opened.peer, keypair.public().to_peer_id());
    assert_eq!(opened.addresses, addresses());
}

#[test]
fn forged_and_damaged_records_are_refused_with_their_defect() {
    let defect = |bytes: &[u8]| PeerAddresses::open(bytes).unwrap_err();
    let good = golden("envelope");
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(defect(&damaged), RecordDefect::Signature);
    // The port in the first address.
    let mut changed = good.clone();
    let port = changed.windows(2).position(|two| two == [0xea, 0x60]);
    changed[port.unwrap()] ^= 1;
    assert_eq!(defect(&changed), RecordDefect::Signature);
    let other = golden("envelope-of-another-domain");
    assert_eq!(defect(&other), RecordDefect::Signature);
    assert_eq!(defect(&golden("record")), RecordDefect::Envelope);
    assert_eq!(defect(b""), RecordDefect::Envelope);
    assert_eq!(defect(&[0; 4097]), RecordDefect::Envelope);
    let keypair = Keypair::generate_secp256k1();
    let content = golden("record");
    let kind = SignedEnvelope::new(&keypair, "chat".to_owned(), b"/chat".to_vec(), content);
    let kind = kind.unwrap().into_protobuf_encoding();
    assert_eq!(defect(&kind), RecordDefect::Kind);
}

#[test]
fn a_record_is_about_its_signer_and_has_an_address() {
    let keypair = Keypair::generate_secp256k1();
    let own = keypair.public().to_peer_id();
    let stolen = WakuPeerRecord::decode(&golden("record"), &PeerRecordLimits::default()).unwrap();
    let defect = PeerAddresses::open(&sealed(&keypair, &stolen));
    assert_eq!(defect, Err(RecordDefect::OtherPeer));
    let unreadable = WakuPeerRecord {
        peer: own.to_bytes().into(),
        addresses: vec![Bytes::from_static(b"nowhere")],
        ..stolen
    };
    let defect = PeerAddresses::open(&sealed(&keypair, &unreadable));
    assert_eq!(defect, Err(RecordDefect::NoAddress));
    let many = vec![addresses()[0].clone(); 40];
    let signed = sign_record(&keypair, 1, &many).unwrap();
    assert_eq!(PeerAddresses::open(&signed).unwrap().addresses.len(), 16);
    let nobody = PeerId::random();
    assert!(is_record_of(own, &signed) && !is_record_of(nobody, &signed));
}
