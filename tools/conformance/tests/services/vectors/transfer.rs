//! Transfer between stores.

use bytes::Bytes;
use serde_json::json;
use undertone_message::MessageLimits;
use undertone_services::sync::TransferMessage;

use super::{Read, given};

pub(super) fn message(frame: &Bytes) -> Result<Read, String> {
    let transfer = TransferMessage::decode(frame, &MessageLimits::default());
    let transfer = transfer.map_err(|error| error.to_string())?;
    let fields = given([
        ("pubsubTopic", json!(&*transfer.pubsub_topic)),
        ("message", super::message(&transfer.message)),
    ]);
    Ok(Read {
        fields,
        again: transfer.encode(),
    })
}
