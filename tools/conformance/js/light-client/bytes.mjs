// Bytes and text, with what both Node.js and browsers have.

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(hex) {
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new Error("hex is not an even number of hex digits");
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

// Payload of a command: `text`, or `size` bytes that all programs of a test know.
export function payloadOf({ text, size }) {
  if (text !== undefined) return new TextEncoder().encode(text);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error(`size ${size} is not a whole number`);
  return new Uint8Array(size).fill(7);
}

// Length of a payload, and the payload if it is short text.
const TEXT_BYTES_MAX = 256;

export function describePayload(payload) {
  const text = payload.length > TEXT_BYTES_MAX ? null : new TextDecoder().decode(payload);
  return { bytes: payload.length, text };
}
