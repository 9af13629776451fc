// Stamped payloads: 8 bytes sequence number, 8 bytes send time (both big endian), then filling.
// The time is CLOCK_MONOTONIC in nanoseconds, which all processes of one machine share.

const STAMP_BYTES = 16;
const HEAD_BYTES = 32;
const MAX_AGE_NS = 600_000_000_000n;

export function stamped(seq, size) {
  if (!Number.isSafeInteger(seq) || seq < 0) throw new Error(`seq ${seq} is not a whole number`);
  if (!Number.isSafeInteger(size) || size < STAMP_BYTES) {
    throw new Error(`size ${size} is below the ${STAMP_BYTES} bytes of the stamp`);
  }
  const payload = Buffer.alloc(size, seq & 0xff);
  payload.writeBigUInt64BE(BigInt(seq), 0);
  payload.writeBigUInt64BE(process.hrtime.bigint(), 8);
  return payload;
}

// The fields of a `message` event that come from the payload. Whatever is not a stamp of the last ten
// minutes gives nulls.
export function describe(payload) {
  const now = process.hrtime.bigint();
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const fields = { seq: null, latency_ns: null, bytes: bytes.length };
  if (bytes.length >= STAMP_BYTES) {
    const seq = bytes.readBigUInt64BE(0);
    const age = now - bytes.readBigUInt64BE(8);
    if (age >= 0n && age < MAX_AGE_NS && seq <= BigInt(Number.MAX_SAFE_INTEGER)) {
      fields.seq = Number(seq);
      fields.latency_ns = Number(age);
    }
  }
  fields.head = bytes.subarray(0, HEAD_BYTES).toString("hex");
  return fields;
}

// The bytes of a `publish` command that gives them itself.
export function fromHex(hex) {
  if (!/^([0-9a-fA-F]{2})*$/.test(hex)) throw new Error("hex is not an even number of hex digits");
  return Buffer.from(hex, "hex");
}
