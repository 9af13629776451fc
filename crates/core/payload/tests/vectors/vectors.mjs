// Golden vectors of Waku payload encryption version 1, made and read by the npm package `@waku/message-encryption`.
//
//   npm i @waku/message-encryption@0.0.27      (in a folder with a copy of this file and "type": "module")
//   node vectors.mjs make > message-encryption.json
//   node vectors.mjs check < undertone.json
//
// `make` replaces the package's random source by the stream SHA-256(0), SHA-256(1), ... (counters of eight big-endian
// bytes, restarted for each case), so that another implementation that draws the same numbers gets the same bytes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as secp from "@noble/secp256k1";

// The package asks for a newer Node, which has this function.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((a, b) => { resolve = a; reject = b; });
  return { promise, resolve, reject };
};

let counter = 0n;
let rest = new Uint8Array();
function draw(count = 32) {
  while (rest.length < count) {
    const input = Buffer.alloc(8);
    input.writeBigUInt64BE(counter++);
    rest = Uint8Array.from([...rest, ...createHash("sha256").update(input).digest()]);
  }
  const taken = rest.slice(0, count);
  rest = rest.slice(count);
  return taken;
}
// The package keeps a reference of its own to this function, so it is replaced before the package is loaded.
const randomBytes = secp.utils.randomBytes;
secp.utils.randomBytes = (count) => (process.argv[2] === "make" ? draw(count) : randomBytes(count));
const { ecies, symmetric } = await import("@waku/message-encryption");

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => Uint8Array.from(Buffer.from(text, "hex"));
const sha256 = (data) => hex(createHash("sha256").update(data).digest());
const payloadOf = (length) => Uint8Array.from({ length }, (_, i) => (7 * i + length) & 255);

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const READER = "1111111111111111111111111111111111111111111111111111111111111111";
const SIGNER = "2222222222222222222222222222222222222222222222222222222222222222";
const TOPIC = "/undertone/1/vectors/proto";
const PUBSUB = "/waku/2/rs/66/0";

function coder(kind, signed) {
  const common = { pubsubTopic: PUBSUB, contentTopic: TOPIC, sigPrivKey: signed ? bytes(SIGNER) : undefined };
  return kind === "symmetric"
    ? symmetric.createEncoder({ ...common, symKey: bytes(KEY) })
    : ecies.createEncoder({ ...common, publicKey: secp.getPublicKey(bytes(READER), false) });
}

async function make() {
  const cases = [];
  for (const kind of ["symmetric", "asymmetric"]) {
    for (const signed of [false, true]) {
      // The lengths about 189 and 254 are those where the padding grows to a whole block.
      for (const length of [0, 1, 5, 188, 189, 190, 253, 254, 255, 256, 65535, 65536]) {
        counter = 0n;
        rest = new Uint8Array();
        const message = await coder(kind, signed).toProtoObj({ payload: payloadOf(length) });
        if (message.version !== 1) throw new Error("another version");
        const sealed = message.payload;
        cases.push({
          kind, signed, length, sha256: sha256(sealed),
          sealed: sealed.length <= 900 ? hex(sealed) : undefined,
        });
      }
    }
  }
  const rows = cases.map((one) => JSON.stringify(one)).join(",\n");
  console.log(`{"package":"@waku/message-encryption","version":"0.0.27","key":"${KEY}","reader":"${READER}",` +
    `"signer":"${SIGNER}","signerPublic":"${hex(secp.getPublicKey(bytes(SIGNER), false))}","cases":[\n${rows}\n]}`);
}

async function check() {
  const { cases } = JSON.parse(readFileSync(0, "utf8"));
  const signer = hex(secp.getPublicKey(bytes(SIGNER), false));
  for (const one of cases) {
    const decoder = one.kind === "symmetric"
      ? symmetric.createDecoder(TOPIC, bytes(KEY), PUBSUB)
      : ecies.createDecoder(TOPIC, bytes(READER), PUBSUB);
    const proto = { payload: bytes(one.sealed), version: 1, contentTopic: TOPIC };
    const opened = await decoder.fromProtoObj(PUBSUB, proto);
    const name = JSON.stringify({ ...one, sealed: undefined });
    if (!opened || hex(opened.payload) !== hex(payloadOf(one.length))) throw new Error(`payload of ${name}`);
    const by = opened.signaturePublicKey && hex(opened.signaturePublicKey);
    if (by !== (one.signed ? signer : undefined)) throw new Error(`signer of ${name}: ${by}`);
  }
  console.log(`${cases.length} of ${cases.length} opened`);
}

await { make, check }[process.argv[2]]();
