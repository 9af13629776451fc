// Reads messages with js-waku's codecs: a list of {"kind":…,"hex":…} in the file that is named, a list of
// {"fields":…} or {"error":…} as one line of output.
import { readFileSync } from "node:fs";
import { fromHex } from "../bytes.mjs";
import { CODECS, readable } from "./codecs.mjs";

const messages = JSON.parse(readFileSync(process.argv[2]));
const read = messages.map(({ kind, hex }) => {
  try {
    return { fields: readable(CODECS[kind].decode(fromHex(hex))) };
  } catch (error) {
    return { error: String(error) };
  }
});
console.log(JSON.stringify(read));
