// The command-line options of both programs, as README.md lists them.
import { parseArgs } from "node:util";

function whole(name, text) {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text}: give a whole number`);
  return Number(text);
}

// `extra` are further options of one program, in the shape of node:util parseArgs.
export function clientOptions(extra = {}) {
  const { values } = parseArgs({
    options: {
      bootstrap: { type: "string", multiple: true, default: [] },
      cluster: { type: "string", default: "66" },
      shard: { type: "string", default: "3" },
      shards: { type: "string" },
      "redial-s": { type: "string", default: "1" },
      "peer-exchange": { type: "boolean", default: false },
      "ask-again-s": { type: "string", default: "30" },
      "dns-list": { type: "string" },
      "dns-server": { type: "string" },
      "only-secure": { type: "boolean", default: false },
      ...extra,
    },
    strict: true,
  });
  const client = {
    bootstrap: values.bootstrap,
    cluster: whole("cluster", values.cluster),
    shard: whole("shard", values.shard),
    shards: values.shards === undefined ? null : whole("shards", values.shards),
    redial_s: whole("redial-s", values["redial-s"]),
    peer_exchange: values["peer-exchange"],
    ask_again_s: whole("ask-again-s", values["ask-again-s"]),
    dns_list: values["dns-list"] ?? null,
    dns_server: values["dns-server"] ?? null,
    only_secure: values["only-secure"],
  };
  return { client, values };
}
