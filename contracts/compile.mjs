// Compiles src/*.sol and test/*.sol into artifacts/*.json; with --check compares instead and writes nothing.
// Exit codes: 0 all is good, 1 it does not compile or an artifact differs.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import solc from "solc";

const root = import.meta.dirname;
const sourceDirs = ["src", "test"];
const artifactDir = join(root, "artifacts");

// Contract and the file that defines it: what is deployed, in the order of deployment.
const contracts = [
  ["PoseidonT2", "poseidon-solidity/PoseidonT2.sol"],
  ["PoseidonT3", "poseidon-solidity/PoseidonT3.sol"],
  ["LazyIMT", "@zk-kit/lazy-imt.sol/LazyIMT.sol"],
  ["TestStableToken", "src/TestStableToken.sol"],
  ["LinearPriceCalculator", "src/LinearPriceCalculator.sol"],
  ["RlnMembership", "src/RlnMembership.sol"],
  ["OlderMembership", "test/OlderMembership.sol"],
  ["ERC1967Proxy", "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol"],
];

// No metadata hash: the bytecode depends on the code alone, not on comments or paths.
const settings = {
  evmVersion: "shanghai",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
};

const own = sourceDirs.flatMap((dir) => {
  const names = readdirSync(join(root, dir)).filter((name) => name.endsWith(".sol"));
  return names.map((name) => `${dir}/${name}`);
}).sort();
const hash = createHash("sha256");
const sources = {};
for (const path of own) {
  const content = readFileSync(join(root, path), "utf8");
  hash.update(`${path}\n${Buffer.byteLength(content)}\n${content}`);
  sources[path] = { content };
}
const sourceSha256 = hash.digest("hex");

const input = {
  language: "Solidity",
  sources,
  settings: {
    ...settings,
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.bytecode.linkReferences"] } },
  },
};
const output = JSON.parse(
  solc.compile(JSON.stringify(input), {
    import: (path) => ({ contents: readFileSync(join(root, "node_modules", path), "utf8") }),
  }),
);
const complaints = (output.errors ?? []).filter(
  // A package's own warnings are its authors' business.
  (entry) => entry.severity === "error" || own.includes(entry.sourceLocation?.file),
);
if (complaints.length > 0) {
  for (const entry of complaints) console.error(entry.formattedMessage);
  process.exit(1);
}

const check = process.argv.includes("--check");
if (!check) mkdirSync(artifactDir, { recursive: true });
let stale = 0;
for (const [name, file] of contracts) {
  const { abi, evm } = output.contracts[file][name];
  const artifact = {
    contract: name,
    file,
    solc: solc.version(),
    settings,
    sourceSha256,
    abi,
    bytecode: evm.bytecode.object,
    linkReferences: evm.bytecode.linkReferences,
  };
  const text = `${JSON.stringify(artifact, null, 1)}\n`;
  const path = join(artifactDir, `${name}.json`);
  if (!check) {
    writeFileSync(path, text);
    console.log(`${name}: ${evm.bytecode.object.length / 2} bytes`);
    continue;
  }
  let found = "";
  try {
    found = readFileSync(path, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  if (found !== text) {
    console.error(`artifacts/${name}.json is not what src/ compiles to; run: npm run compile`);
    stale += 1;
  }
}
if (check && stale === 0) console.log(`${contracts.length} artifacts match their sources`);
process.exit(stale === 0 ? 0 : 1);
