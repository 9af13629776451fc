// A js-waku light client in Node.js. Speaks the line protocol of README.md.
import { event, serve } from "../common/lines.mjs";
import { startClient } from "./client.mjs";
import { clientOptions } from "./options.mjs";

const { client } = clientOptions();
serve(await startClient(client, event));
