// The part of browser.mjs that runs in the page: `tell` is the page's way out, `run` its way in.
import { startClient } from "./client.mjs";

let handlers;

globalThis.start = async (options) => {
  handlers = await startClient(options, (name, fields) => globalThis.tell(name, fields));
};
globalThis.run = (command) => handlers[command.cmd](command);
