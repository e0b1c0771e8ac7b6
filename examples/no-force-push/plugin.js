// A guard and a tool in JavaScript: pi starts this program and talks to it in lines of JSON.

const readline = require("node:readline");

const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

// Calls to ctx: pi answers each with a result of the same id.
const waiting = new Map();
let calls = 0;
const call = (ctx, method, params) =>
  new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject });
    send({ type: "call", id: calls, ctx, method, params });
  });

const FORCE = /\bgit\b.*\bpush\b.*(\s--force(?!-with-lease)\b|\s-f\b)/;

async function toolCall({ event, ctx }) {
  if (!FORCE.test(event.input.command)) return null;
  const title = "The model wants to overwrite a branch on the server";
  if (await call(ctx, "ui.confirm", { title, message: event.input.command })) return null;
  return { block: true, reason: "Forced pushes are not allowed here; use --force-with-lease." };
}

async function branchAge({ params, ctx }) {
  const args = ["log", "-1", "--format=%cr", params.branch];
  const done = await call(ctx, "exec", { command: "git", args });
  if (done.code !== 0) throw new Error(done.stderr.trim());
  return { content: [{ type: "text", text: done.stdout.trim() }] };
}

async function answer(message) {
  try {
    const value = message.type === "hook" ? await toolCall(message) : await branchAge(message);
    send({ type: "answer", id: message.id, answer: value });
  } catch (error) {
    send({ type: "answer", id: message.id, error: String(error.message) });
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hook" || message.type === "tool") answer(message);
  else if (message.type === "result") {
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if ("error" in message) reject(new Error(message.error));
    else resolve(message.value);
  }
});

send({
  type: "ready",
  contract: "1.1",
  hooks: { tool_call: { tools: ["bash"] } },
  registers: {
    tools: [
      {
        name: "branch_age",
        description: "Say how long ago the last commit of a git branch was made.",
        parameters: {
          type: "object",
          properties: { branch: { type: "string", description: "The branch" } },
          required: ["branch"],
          additionalProperties: false,
        },
      },
    ],
  },
});
