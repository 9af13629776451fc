//! Messages of the services in the bytes of js-waku's codecs mean the same to Undertone's, and come out again; and
//! what Undertone writes means the same to js-waku's codecs.
//!
//! `tools/conformance/js/light-client/vectors/make.mjs` makes the file. Each message is decoded, its fields are compared
//! with those that js-waku was given, and it is encoded again. `read.mjs` beside it reads those bytes in Node.js. Of
//! transfer between stores, js-waku has the message but not the frame. Reconciliation has no other implementation that
//! could be run here.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use undertone_conformance::programs;
use undertone_message::{WakuMessage, WakuMetadata};
use undertone_services::history::PAGE_DEFAULT;

mod exchange;
mod filter;
mod lightpush;
mod store;
mod transfer;

const FILE: &str = include_str!("../../js/light-client/vectors/service-messages.json");

#[derive(Deserialize)]
struct File {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    kind: String,
    name: String,
    fields: Value,
    hex: String,
}

/// What a codec made of a message.
struct Read {
    /// Fields in the form of the file.
    fields: Value,
    /// The message encoded again.
    again: Vec<u8>,
}

/// Messages that Undertone writes in other bytes of the same meaning.
const OTHER_BYTES: [(&str, &str); 17] = [
    // The number of messages of a page is always written, and so is the direction.
    ("store.request", "as the library asks"),
    ("store.request", "next page"),
    ("store.request", "backward"),
    ("store.request", "by hash"),
    ("store.request", "hashes only"),
    ("store.request", "extreme times"),
    ("store.request", "a time before 1970"),
    // Zeros and empty texts that nwaku requires are written.
    ("store.response", "without description"),
    ("filter.request", "ping"),
    ("lightpush-v2.response", "refused"),
    // Shards stand in both of the fields that implementations read.
    ("metadata.request", "shards"),
    ("metadata.response", "shards"),
    ("metadata.response", "cluster 0"),
    ("metadata.response", "the highest cluster"),
    // nwaku requires a status and the request in an answer.
    ("peer-exchange.response", "nobody"),
    ("peer-exchange.response", "two records"),
    ("peer-exchange.response", "query and response"),
];

#[test]
fn all_messages_of_js_waku_are_read_and_written() {
    let file: File = serde_json::from_str(FILE).unwrap();
    let mut wrong = Vec::new();
    for vector in &file.vectors {
        let frame = Bytes::from(hex::decode(&vector.hex).unwrap());
        let title = format!("{}, {}", vector.kind, vector.name);
        match read(&vector.kind, &frame) {
            Err(error) => wrong.push(format!("{title}: {error}")),
            Ok(read) => {
                let fields = meant(vector);
                if read.fields != fields {
                    wrong.push(format!("{title}: {} instead of {fields}", read.fields));
                }
                wrong.extend(
                    written_wrong(vector, &frame, &read).map(|what| format!("{title}: {what}")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(file.vectors.len(), 49);
}

/// Answer of `read.mjs` for one message.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReadByJsWaku {
    Fields(Value),
    Error(String),
}

#[tokio::test]
async fn all_messages_of_undertone_are_read_by_js_waku() {
    let file: File = serde_json::from_str(FILE).unwrap();
    let again = file.vectors.iter().map(|vector| {
        let frame = Bytes::from(hex::decode(&vector.hex).unwrap());
        read(&vector.kind, &frame).unwrap().again
    });
    let again: Vec<_> = again.collect();
    let messages = file.vectors.iter().zip(&again);
    let messages: Value = messages
        .map(|(vector, bytes)| json!({"kind": vector.kind, "hex": hex::encode(bytes)}))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.json");
    std::fs::write(&path, messages.to_string()).unwrap();
    let reader = programs::js_vector_reader().unwrap().arg(&path);
    let output = reader.build().output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let answers: Vec<ReadByJsWaku> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), file.vectors.len());

    let mut wrong = Vec::new();
    let mut other_bytes = 0;
    for ((vector, bytes), answer) in file.vectors.iter().zip(&again).zip(answers) {
        let title = format!("{}, {}", vector.kind, vector.name);
        let expected = told(vector);
        other_bytes += usize::from(hex::encode(bytes) != vector.hex);
        match answer {
            ReadByJsWaku::Fields(fields) if fields == expected => {}
            ReadByJsWaku::Fields(fields) => {
                wrong.push(format!("{title}: {fields} instead of {expected}"));
            }
            ReadByJsWaku::Error(error) => wrong.push(format!("{title}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(other_bytes, OTHER_BYTES.len());
}

/// Returns the fields that js-waku reads from Undertone's bytes: those that are meant, and what Undertone writes where
/// js-waku leaves it out.
fn told(vector: &Vector) -> Value {
    let mut fields = meant(vector);
    let map = fields.as_object_mut().unwrap();
    match vector.kind.as_str() {
        "store.request" => {
            let usual = PAGE_DEFAULT.to_string();
            map.entry("paginationLimit").or_insert(json!(usual));
        }
        "store.response" => {
            map.entry("statusDesc").or_insert(json!(""));
        }
        "peer-exchange.response" => {
            map.insert("query".to_owned(), json!({"numPeers": "0"}));
        }
        _ => {}
    }
    fields
}

/// Returns the fields of a vector that Undertone's codecs keep: not the request that other implementations
/// repeat in an answer, nor the topic beside hashes, each of which is of one topic only.
fn meant(vector: &Vector) -> Value {
    let mut fields = vector.fields.clone();
    let map = fields.as_object_mut().unwrap();
    if vector.kind == "peer-exchange.response" {
        map.remove("query");
    }
    let has_hashes = map
        .get("messageHashes")
        .is_some_and(|hashes| *hashes != json!([]));
    if has_hashes {
        map.remove("pubsubTopic");
    }
    fields
}

/// Returns what is wrong with the message that was encoded again.
fn written_wrong(vector: &Vector, frame: &Bytes, first: &Read) -> Option<String> {
    let again = Bytes::from(first.again.clone());
    let is_same = again == frame;
    let is_known = OTHER_BYTES.contains(&(&vector.kind, &vector.name));
    if is_same == is_known {
        let bytes = hex::encode(&again);
        return Some(format!(
            "same bytes: {is_same}, listed as other: {is_known}: {bytes}"
        ));
    }
    match read(&vector.kind, &again) {
        Ok(second) if second.fields == first.fields => None,
        Ok(second) => Some(format!("encoded again it means {}", second.fields)),
        Err(error) => Some(format!("encoded again it cannot be read: {error}")),
    }
}

fn read(kind: &str, frame: &Bytes) -> Result<Read, String> {
    match kind {
        "store.request" => store::request(frame),
        "store.response" => store::response(frame),
        "filter.request" => filter::request(frame),
        "filter.response" => filter::response(frame),
        "filter.push" => filter::push(frame),
        "lightpush-v3.request" => lightpush::request(frame),
        "lightpush-v3.response" => lightpush::response(frame),
        "lightpush-v2.request" => lightpush::legacy_request(frame),
        "lightpush-v2.response" => lightpush::legacy_response(frame),
        "metadata.request" | "metadata.response" => metadata(frame),
        "peer-exchange.request" => exchange::request(frame),
        "peer-exchange.response" => exchange::response(frame),
        "transfer.message" => transfer::message(frame),
        other => Err(format!("no codec for {other}")),
    }
}

fn metadata(frame: &Bytes) -> Result<Read, String> {
    let metadata = WakuMetadata::decode(frame).map_err(|error| error.to_string())?;
    let fields = given([
        ("clusterId", json!(metadata.cluster_id)),
        ("shards", json!(metadata.shards)),
    ]);
    let again = metadata.encode().map_err(|error| error.to_string())?;
    Ok(Read { fields, again })
}

/// The fields that are there.
fn given<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    let fields: Map<_, _> = fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Value::Object(fields)
}

/// A list of topics.
fn texts(list: &[Arc<str>]) -> Value {
    list.iter().map(|text| json!(**text)).collect()
}

/// The fields of a message, its proof in the parts that js-waku knows.
fn message(message: &WakuMessage) -> Value {
    given([
        ("payload", json!(hex::encode(&message.payload))),
        ("contentTopic", json!(*message.content_topic)),
        ("version", json!(message.version)),
        (
            "timestamp",
            json!(message.timestamp.map(|time| time.to_string())),
        ),
        ("meta", json!(message.meta.as_ref().map(hex::encode))),
        ("ephemeral", json!(message.ephemeral)),
        (
            "rateLimitProof",
            message
                .rate_limit_proof
                .as_deref()
                .map_or(Value::Null, proof),
        ),
    ])
}

fn proof(bytes: &[u8]) -> Value {
    // Fields 1 to 7 of RFC 17, in this order.
    const NAMES: [&str; 7] = [
        "proof",
        "merkleRoot",
        "epoch",
        "shareX",
        "shareY",
        "nullifier",
        "rlnIdentifier",
    ];
    let mut fields = Map::new();
    let mut reader = undertone_wire::FieldReader::new(bytes);
    while let Ok(Some((number, undertone_wire::FieldValue::Bytes(value)))) = reader.field() {
        let name = number
            .checked_sub(1)
            .and_then(|index| NAMES.get(usize::try_from(index).ok()?));
        fields.insert(
            name.map_or("unknown", |name| *name).to_owned(),
            json!(hex::encode(value)),
        );
    }
    Value::Object(fields)
}
