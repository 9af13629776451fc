// Gives @chainsafe/discv5 Waku's protocol id. The library has `discv5` as a literal in two of its files and no setting
// for it, and the id is part of what is encrypted and signed, so that it cannot be replaced on the wire either: the
// literals are replaced while the files are loaded.
import { registerHooks } from "node:module";

const FILES = ["/@chainsafe/discv5/lib/packet/create.js", "/@chainsafe/discv5/lib/packet/encode.js"];
const LITERAL = '"discv5"';

// The id has to have six bytes.
export function useProtocolId(id) {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!FILES.some((file) => url.endsWith(file))) return loaded;
      const parts = Buffer.from(loaded.source).toString("utf8").split(LITERAL);
      if (parts.length !== 2) throw new Error(`${url} has ${parts.length - 1} times ${LITERAL}, and should have it once`);
      return { ...loaded, source: parts.join(JSON.stringify(id)) };
    },
  });
}
