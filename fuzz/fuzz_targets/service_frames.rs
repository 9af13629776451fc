//! Frames of the services, by the first byte: what is read has to stay the same when it is written and read again.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use undertone_fuzz::Reader;
use undertone_message::MessageLimits;
use undertone_services::{
    filter, lightpush, lightpush::legacy, peer_exchange, rendezvous, store, sync,
};

macro_rules! stays {
    ($kind:ty, $bytes:expr, $limits:expr) => {{
        let limits = $limits;
        if let Ok(read) = <$kind>::decode($bytes, &limits) {
            // What was left out on the wire is written with its default, which may be too long.
            if let Ok(again) = <$kind>::decode(&Bytes::from(read.encode()), &limits) {
                assert_eq!(again, read);
            }
        }
    }};
}

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let kind = reader.byte();
    let bytes = &Bytes::copy_from_slice(reader.rest());
    match kind % 18 {
        0 => stays!(store::StoreRequest, bytes, store::StoreLimits::default()),
        1 => stays!(store::StoreResponse, bytes, store::StoreLimits::default()),
        2 => stays!(
            filter::SubscribeRequest,
            bytes,
            filter::FilterCodecLimits::default()
        ),
        3 => stays!(
            filter::SubscribeResponse,
            bytes,
            filter::FilterCodecLimits::default()
        ),
        4 => stays!(
            filter::MessagePush,
            bytes,
            filter::FilterCodecLimits::default()
        ),
        5 => stays!(
            lightpush::LightpushRequest,
            bytes,
            lightpush::LightpushCodecLimits::default()
        ),
        6 => stays!(
            lightpush::LightpushResponse,
            bytes,
            lightpush::LightpushCodecLimits::default()
        ),
        7 => stays!(
            legacy::LegacyRequest,
            bytes,
            lightpush::LightpushCodecLimits::default()
        ),
        8 => stays!(
            legacy::LegacyResponse,
            bytes,
            lightpush::LightpushCodecLimits::default()
        ),
        9 => stays!(
            peer_exchange::PeerExchangeRequest,
            bytes,
            peer_exchange::PeerExchangeCodecLimits::default()
        ),
        10 => {
            let limits = peer_exchange::PeerExchangeCodecLimits::default();
            // What was skipped is counted and not written.
            if let Ok(read) = peer_exchange::PeerExchangeResponse::decode(bytes, &limits)
                && let Ok(again) =
                    peer_exchange::PeerExchangeResponse::decode(&read.encode(), &limits)
            {
                assert_eq!(again.enrs, read.enrs);
            }
        }
        11 => stays!(
            rendezvous::RendezvousRequest<'_>,
            bytes,
            rendezvous::RendezvousCodecLimits::default()
        ),
        12 => stays!(
            rendezvous::RegisterResponse,
            bytes,
            rendezvous::RendezvousCodecLimits::default()
        ),
        13 => stays!(
            rendezvous::DiscoverResponse,
            bytes,
            rendezvous::RendezvousCodecLimits::default()
        ),
        14 => stays!(
            rendezvous::WakuPeerRecord,
            bytes,
            rendezvous::PeerRecordLimits::default()
        ),
        15 => {
            let limits = sync::SyncLimits::default();
            // A payload without ranges ends the session, and is written without its topics.
            if let Ok(read) = sync::RangesPayload::decode(bytes, &limits)
                && !read.ranges.is_empty()
            {
                assert_eq!(
                    sync::RangesPayload::decode(&read.encode(), &limits),
                    Ok(read)
                );
            }
        }
        16 => stays!(sync::TransferMessage, bytes, MessageLimits::default()),
        _ => stays!(
            undertone_sds::SdsMessage,
            bytes,
            undertone_sds::SdsLimits::default()
        ),
    }
});
