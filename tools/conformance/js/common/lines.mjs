// The line protocol of tools/conformance/README.md: one JSON object per line, commands in, replies and events out.
import readline from "node:readline";

function write(object) {
  process.stdout.write(JSON.stringify(object) + "\n");
}

export function event(name, fields) {
  write({ event: name, ...fields });
}

// What was received is told a little later, so that telling it is not in the way of what is measured.
const REPORT_DELAY_MS = 20;
const reports = [];

function tell() {
  if (reports.length > 0) process.stdout.write(reports.splice(0).map((line) => JSON.stringify(line) + "\n").join(""));
}

export function report(name, fields) {
  if (reports.length === 0) setTimeout(tell, REPORT_DELAY_MS);
  reports.push({ event: name, ...fields });
}

// `handlers` maps a command's name to an async function of the command; what it returns is the reply.
// Commands start in the order of their lines and may finish in another.
export function serve(handlers) {
  const input = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });
  input.on("line", async (line) => {
    let command;
    try {
      command = JSON.parse(line);
    } catch (error) {
      process.stderr.write(`not a JSON line: ${error.message}\n`);
      process.exit(2);
    }
    const handler = Object.hasOwn(handlers, command.cmd) ? handlers[command.cmd] : undefined;
    if (handler === undefined) {
      write({ ref: command.ref, error: `unknown command ${JSON.stringify(command.cmd)}` });
      return;
    }
    try {
      write({ ref: command.ref, ok: (await handler(command)) ?? {} });
    } catch (error) {
      write({ ref: command.ref, error: String(error?.message ?? error) });
    }
    if (command.cmd === "quit") {
      tell();
      process.exit(0);
    }
  });
  // A driver that died closes the pipe: a peer must not outlive it.
  input.on("close", () => process.exit(0));
}

export function stat() {
  const used = process.cpuUsage();
  return { cpu_us: used.user + used.system, rss_kib: Math.round(process.memoryUsage.rss() / 1024) };
}
