// The bridge one would write with the official TypeScript SDK: every update becomes one LSP notification.
// node sdk_bridge.mjs AGENT ARG…   Reports its CPU seconds of the turn as JSON on stderr.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

function send(method, params) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", method, params }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}

const client = acp.client({ name: "benchmark" });
client.onNotification(acp.methods.client.session.update, ({ params }) => send("acp/update", params));
const connection = client.connect(stream);
const request = (method, params) => connection.agent.request(method, params);
await request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await request(acp.methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
const before = process.cpuUsage();
const prompt = [{ type: "text", text: "go" }];
const { stopReason } = await request(acp.methods.agent.session.prompt, { sessionId, prompt });
const used = process.cpuUsage(before);
send("acp/stop", { stopReason });
process.stderr.write(JSON.stringify({ cpu: (used.user + used.system) / 1e6 }) + "\n");
await new Promise((done) => process.stdout.end(done));
process.exit(0);
