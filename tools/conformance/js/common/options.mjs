// The command-line options which both peer programs understand, in the words of tools/conformance/README.md.
import { parseArgs } from "node:util";

function whole(name, text) {
  if (!/^\d+$/.test(text)) throw new Error(`--${name} ${text}: give a whole number`);
  return Number(text);
}

function flag(name, text) {
  if (text !== "true" && text !== "false") throw new Error(`--${name} ${text}: give true or false`);
  return text === "true";
}

const SHARED = {
  listen: { type: "string" },
  d: { type: "string", default: "6" },
  "d-low": { type: "string", default: "4" },
  "d-high": { type: "string", default: "12" },
  "d-lazy": { type: "string", default: "6" },
  "heartbeat-ms": { type: "string", default: "1000" },
  "flood-publish": { type: "string", default: "true" },
};

// `extra` are further options of one program, in the shape of node:util parseArgs.
export function options(extra) {
  const { values } = parseArgs({ options: { ...SHARED, ...extra }, strict: true });
  const number = (name) => (values[name] === undefined ? undefined : whole(name, values[name]));
  const d = number("d");
  const low = number("d-low");
  return {
    values,
    number,
    // Options of the GossipSub constructor that have the same names in both generations of the library.
    gossip: {
      D: d,
      Dlo: low,
      Dhi: number("d-high"),
      Dscore: Math.min(d, 4),
      Dout: Math.max(0, Math.min(2, low - 1, Math.floor(d / 2))),
      Dlazy: number("d-lazy"),
      heartbeatInterval: number("heartbeat-ms"),
      floodPublish: flag("flood-publish", values["flood-publish"]),
      emitSelf: false,
      allowPublishToZeroTopicPeers: true,
      // Peers of one test share one address.
      scoreParams: { IPColocationFactorWeight: 0 },
    },
  };
}
