// pi's own tools as extensions use them: `createReadTool(cwd).execute(...)` runs the tool of pi in pi's process.
//
// With `operations`, functions of the extension for another machine, the work is done here with them: they are not
// reachable from pi's process. The texts that models get are those of pi's tools.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { access, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from "node:path";
import { current } from "../blame.js";
import { call } from "../wire.js";
import { editedText, withoutBom } from "./edits.js";
import { DEFAULT_MAX_BYTES, formatSize, truncateHead, truncateLine, truncateTail } from "./text.js";

const described = JSON.parse(readFileSync(new URL("./tools.json", import.meta.url), "utf8"));

function absolute(path, cwd) {
  let plain = path.startsWith("@") ? path.slice(1) : path;
  if (plain === "~" || plain.startsWith("~/")) plain = homedir() + plain.slice(1);
  return isAbsolute(plain) ? plain : resolve(cwd, plain);
}

const answer = (text, details) => ({ content: [{ type: "text", text }], ...(details === undefined ? {} : { details }) });

function checkAborted(signal) {
  if (signal?.aborted) throw new Error("Operation aborted");
}

// In pi's process

/** Whether a tool of pi can be run for what runs now: only a tool's own context can run others. */
function canDelegate() {
  return typeof current()?.ctx === "string" && current().ctx.startsWith("t");
}

async function delegated(name, params) {
  const { ctx } = current();
  const overridden = await call(ctx, "overridden_tool", { name });
  const reference = overridden?.plugin ? `${overridden.plugin}:${name}` : name;
  const result = await call(ctx, "execute_tool", { name: reference, arguments: params });
  if (result.isError) throw new Error(result.content.map((part) => part.text ?? "").join(""));
  return { content: result.content, details: result.details ?? undefined };
}

/** Makes the pair of `createXTool` and `createXToolDefinition`; `run` does the work here. */
function maker(name, run, isLocal = (options) => options.operations !== undefined) {
  return (cwd, options = {}) => ({
    name,
    label: name,
    ...described[name],
    async execute(callId, params, signal, onUpdate) {
      checkAborted(signal);
      if (!isLocal(options) && canDelegate()) return delegated(name, params);
      return run({ cwd, options, params, signal, onUpdate, callId });
    },
  });
}

// Files

async function runRead({ cwd, options, params, signal }) {
  const files = options.operations ?? { readFile, access, detectImageMimeType: imageType };
  const path = absolute(params.path, cwd);
  await files.access(path);
  checkAborted(signal);
  const mimeType = await files.detectImageMimeType?.(path);
  const bytes = await files.readFile(path);
  checkAborted(signal);
  if (mimeType) {
    const note = { type: "text", text: `Read image file [${mimeType}]` };
    return { content: [note, { type: "image", data: bytes.toString("base64"), mimeType }] };
  }
  return readText(bytes.toString("utf8"), params);
}

function readText(text, { path, offset, limit }) {
  const lines = text.split("\n");
  const first = Math.max((offset ?? 1) - 1, 0);
  if (first >= lines.length) throw new Error(`Offset ${offset} is beyond end of file (${lines.length} lines total)`);
  const end = limit === undefined ? lines.length : Math.min(first + limit, lines.length);
  const cut = truncateHead(lines.slice(first, end).join("\n"));
  if (cut.firstLineExceedsLimit) {
    const size = formatSize(Buffer.byteLength(lines[first]));
    const command = `sed -n '${first + 1}p' ${path} | head -c ${DEFAULT_MAX_BYTES}`;
    const most = formatSize(DEFAULT_MAX_BYTES);
    return answer(`[Line ${first + 1} is ${size}, exceeds ${most} limit. Use bash: ${command}]`, { truncation: cut });
  }
  if (cut.truncated) {
    const last = first + cut.outputLines;
    const by = cut.truncatedBy === "bytes" ? ` (${formatSize(DEFAULT_MAX_BYTES)} limit)` : "";
    const range = `Showing lines ${first + 1}-${last} of ${lines.length}${by}. Use offset=${last + 1} to continue.`;
    return answer(`${cut.content}\n\n[${range}]`, { truncation: cut });
  }
  if (end < lines.length) {
    const rest = `${lines.length - end} more lines in file. Use offset=${end + 1} to continue.`;
    return answer(`${cut.content}\n\n[${rest}]`);
  }
  return answer(cut.content);
}

const SIGNATURES = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/bmp", [0x42, 0x4d]],
];

/** The type of an image by its first bytes; undefined for other files. */
async function imageType(path) {
  const head = (await readFile(path)).subarray(0, 12);
  if (head.subarray(0, 4).toString("latin1") === "RIFF" && head.subarray(8).toString("latin1") === "WEBP") return "image/webp";
  return SIGNATURES.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte))?.[0];
}

async function runWrite({ cwd, options, params, signal }) {
  const files = options.operations ?? { writeFile, mkdir: (path) => mkdir(path, { recursive: true }) };
  const path = absolute(params.path, cwd);
  return withFileMutationQueue(path, async () => {
    checkAborted(signal);
    await files.mkdir(dirname(path));
    checkAborted(signal);
    await files.writeFile(path, params.content);
    return answer(`Successfully wrote to ${params.path}`);
  });
}

async function runEdit({ cwd, options, params, signal }) {
  const files = options.operations ?? { readFile, writeFile, access };
  const edits = editsOf(params);
  if (edits.length === 0) throw new Error("Edit tool input is invalid. edits must contain at least one replacement.");
  const path = absolute(params.path, cwd);
  return withFileMutationQueue(path, async () => {
    checkAborted(signal);
    try {
      await files.access(path);
    } catch (error) {
      throw new Error(`Could not edit file: ${params.path}. Error code: ${error?.code ?? error?.message ?? error}.`);
    }
    const { bom, text } = withoutBom((await files.readFile(path)).toString("utf8"));
    const edited = editedText(params.path, text, edits);
    checkAborted(signal);
    await files.writeFile(path, bom + edited.text);
    const { diff, patch, firstChangedLine } = edited;
    return answer(`Successfully replaced ${edits.length} block(s) in ${params.path}.`, { diff, patch, firstChangedLine });
  });
}

/** The replacements of a call; older models send one as `oldText` and `newText`, or the list as text. */
function editsOf(params) {
  const edits = typeof params.edits === "string" ? JSON.parse(params.edits) : [...(params.edits ?? [])];
  if (typeof params.oldText === "string" && typeof params.newText === "string") {
    edits.push({ oldText: params.oldText, newText: params.newText });
  }
  return edits;
}

const queues = new Map();

/** Runs a function once all earlier ones for the same file are done. */
export async function withFileMutationQueue(path, run) {
  const key = existsSync(path) ? realpathSync(path) : resolve(path);
  const before = queues.get(key) ?? Promise.resolve();
  const result = before.then(run);
  const settled = result.catch(() => {});
  queues.set(key, settled);
  try {
    return await result;
  } finally {
    if (queues.get(key) === settled) queues.delete(key);
  }
}

async function runLs({ cwd, options, params, signal }) {
  const files = options.operations ?? { exists: existsSync, stat, readdir };
  const path = absolute(params.path ?? ".", cwd);
  if (!(await files.exists(path))) throw new Error(`Path not found: ${path}`);
  if (!(await files.stat(path)).isDirectory()) throw new Error(`Not a directory: ${path}`);
  const names = [...(await files.readdir(path))].sort((one, other) => order(one.toLowerCase(), other.toLowerCase()));
  const limit = params.limit ?? 500;
  const rows = [];
  for (const name of names.slice(0, limit)) {
    checkAborted(signal);
    try {
      rows.push(`${name}${(await files.stat(join(path, name))).isDirectory() ? "/" : ""}`);
    } catch {} // removed meanwhile, or a link to nothing
  }
  if (rows.length === 0) return answer("(empty directory)");
  const reached = names.length > limit ? { entryLimitReached: limit } : {};
  const notices = names.length > limit ? [`${limit} entries limit reached. Use limit=${limit * 2} for more`] : [];
  return limited(rows, notices, reached);
}

const order = (one, other) => (one < other ? -1 : Number(one > other));

/** The rows of a search, cut to the limit of bytes, with notices of what was left out. */
function limited(rows, notices, details) {
  const cut = truncateHead(rows.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
  if (cut.truncated) {
    notices.push(`${formatSize(DEFAULT_MAX_BYTES)} limit reached`);
    details.truncation = cut;
  }
  const text = notices.length > 0 ? `${cut.content}\n\n[${notices.join(". ")}]` : cut.content;
  return answer(text, Object.keys(details).length > 0 ? details : undefined);
}

const IGNORED = ["**/node_modules/**", "**/.git/**"];

async function runFind({ cwd, options, params }) {
  const root = absolute(params.path ?? ".", cwd);
  const limit = params.limit ?? 1000;
  const files = options.operations ?? { exists: existsSync, glob: localGlob };
  if (!(await files.exists(root))) throw new Error(`Path not found: ${root}`);
  const found = await files.glob(params.pattern, root, { ignore: IGNORED, limit });
  if (found.length === 0) return answer("No files found matching pattern");
  const rows = found.map((each) => (isAbsolute(each) ? relative(root, each) : each).split(sep).join(posix.sep));
  const isFull = rows.length >= limit;
  const notices = isFull ? [`${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern`] : [];
  return limited(rows, notices, isFull ? { resultLimitReached: limit } : {});
}

/** Files below a folder whose name, or path if the pattern has a slash, matches. */
async function localGlob(pattern, root, { limit }) {
  const matches = globMatcher(pattern);
  const found = [];
  for await (const path of walked(root)) {
    if (matches(relative(root, path).split(sep).join("/"))) found.push(path);
    if (found.length >= limit) break;
  }
  return found;
}

async function* walked(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.name === ".git" || entry.name === "node_modules") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walked(path);
    else yield path;
  }
}

function globMatcher(pattern) {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|\{[^}]*\}|[.+^$()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.startsWith("{")) return `(?:${part.slice(1, -1).split(",").map((each) => each.replace(/[.+^$()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")).join("|")})`;
    return `\\${part}`;
  });
  const expression = new RegExp(`^${source}$`);
  return pattern.includes("/") ? (path) => expression.test(path) : (path) => expression.test(path.split("/").pop());
}

async function runGrep({ cwd, options, params, signal }) {
  const files = options.operations ?? {
    isDirectory: (path) => statSync(path).isDirectory(),
    readFile: (path) => readFile(path, "utf8"),
  };
  const root = absolute(params.path ?? ".", cwd);
  const inFolder = await files.isDirectory(root);
  const source = params.literal ? params.pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : params.pattern;
  const expression = new RegExp(source, params.ignoreCase ? "i" : "");
  const limit = params.limit ?? 100;
  const matchesGlob = params.glob ? globMatcher(params.glob) : () => true;
  const rows = [];
  let matches = 0;
  let anyCut = false;
  for await (const path of inFolder ? walked(root) : [root]) {
    checkAborted(signal);
    const name = inFolder ? relative(root, path).split(sep).join("/") : path.split(sep).pop();
    if (matches >= limit || !matchesGlob(name)) continue;
    const lines = (await Promise.resolve(files.readFile(path)).catch(() => "")).split(/\r?\n/);
    const marked = new Map();
    for (let at = 0; at < lines.length && matches < limit; at++) {
      if (!expression.test(lines[at])) continue;
      matches++;
      const context = params.context ?? 0;
      for (let near = Math.max(at - context, 0); near <= Math.min(at + context, lines.length - 1); near++) {
        if (near === at || !marked.has(near)) marked.set(near, near === at);
      }
    }
    for (const [at, isMatch] of [...marked].sort(([one], [other]) => one - other)) {
      const { text, wasTruncated } = truncateLine(lines[at]);
      anyCut ||= wasTruncated;
      rows.push(isMatch ? `${name}:${at + 1}: ${text}` : `${name}-${at + 1}- ${text}`);
    }
  }
  if (matches === 0) return answer("No matches found");
  const details = {};
  const notices = [];
  if (matches >= limit) {
    details.matchLimitReached = limit;
    notices.push(`${limit} matches limit reached. Use limit=${limit * 2} for more, or refine pattern`);
  }
  if (anyCut) {
    details.linesTruncated = true;
    notices.push("Some lines truncated to 500 chars. Use read tool to see full lines");
  }
  return limited(rows, notices, details);
}

// Commands

/** Operations that run commands on this machine, for `operations` that wrap or change them. */
export function createLocalBashOperations(options = {}) {
  return {
    exec(command, cwd, { onData, signal, timeout, env }) {
      if (!existsSync(cwd)) throw new Error(`Working directory does not exist: ${cwd}`);
      return new Promise((done, failed) => {
        const child = spawn(options.shellPath ?? shell(), ["-c", command], {
          cwd, env: env ?? process.env, detached: process.platform !== "win32", stdio: ["ignore", "pipe", "pipe"],
        });
        let why;
        const stop = (reason) => {
          why ??= reason;
          killTree(child.pid);
        };
        const abort = () => stop("aborted");
        const timer = timeout > 0 ? setTimeout(() => stop(`timeout:${timeout}`), timeout * 1000) : undefined;
        signal?.addEventListener("abort", abort, { once: true });
        if (signal?.aborted) abort();
        child.stdout.on("data", onData);
        child.stderr.on("data", onData);
        const end = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", abort);
        };
        child.on("error", (error) => (end(), failed(error)));
        child.on("close", (code, killedBy) => {
          end();
          if (why) failed(new Error(why));
          else done({ exitCode: killedBy ? 128 + (SIGNAL_NUMBERS[killedBy] ?? 0) : code });
        });
      });
    },
  };
}

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15 };

function shell() {
  return existsSync("/bin/bash") ? "/bin/bash" : "sh";
}

function killTree(pid) {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {} // it has ended
}

async function runBash({ cwd, options, params, signal, onUpdate }) {
  const operations = options.operations ?? createLocalBashOperations({ shellPath: options.shellPath });
  const command = options.commandPrefix ? `${options.commandPrefix}\n${params.command}` : params.command;
  const plain = { command, cwd, env: { ...process.env } };
  const { command: changed, cwd: folder, env } = options.spawnHook ? options.spawnHook(plain) : plain;
  const output = new Output(onUpdate);
  onUpdate?.({ content: [], details: undefined });
  let exitCode;
  try {
    ({ exitCode } = await operations.exec(changed, folder, { onData: (data) => output.add(data), signal, timeout: params.timeout, env }));
  } catch (error) {
    const { text } = output.end();
    const message = error?.message ?? String(error);
    if (message === "aborted") throw new Error(text ? `${text}\n\nCommand aborted` : "Command aborted");
    if (message.startsWith("timeout:")) {
      const why = `Command timed out after ${message.slice(8)} seconds`;
      throw new Error(text ? `${text}\n\n${why}` : why);
    }
    throw error;
  }
  const { text, details } = output.end();
  if (exitCode === 0) return answer(text || "(no output)", details);
  const why = exitCode === null ? "Command terminated without an exit code" : `Command exited with code ${exitCode}`;
  throw new Error(`${text || "(no output)"}\n\n${why}`);
}

/** The output of a command: its end for the model, and all of it in a file if that is longer. */
class Output {
  #chunks = [];
  #onUpdate;
  #timer;

  constructor(onUpdate) {
    this.#onUpdate = onUpdate;
  }

  add(data) {
    this.#chunks.push(Buffer.from(data));
    if (this.#onUpdate && !this.#timer) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#send();
      }, 100);
    }
  }

  #send() {
    const cut = truncateTail(this.#text());
    this.#onUpdate({ content: [{ type: "text", text: cut.content }], details: cut.truncated ? { truncation: cut } : {} });
  }

  #text() {
    return Buffer.concat(this.#chunks).toString("utf8");
  }

  end() {
    const isLate = this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#onUpdate && (isLate || this.#chunks.length > 0)) this.#send();
    const whole = this.#text();
    const cut = truncateTail(whole);
    if (!cut.truncated) return { text: cut.content };
    const file = join(tmpdir(), `pi-bash-${randomBytes(8).toString("hex")}.log`);
    writeFileSync(file, whole);
    const first = cut.totalLines - cut.outputLines + 1;
    let shown = `Showing lines ${first}-${cut.totalLines} of ${cut.totalLines}`;
    if (cut.lastLinePartial) {
      const line = whole.replace(/\n$/, "").split("\n").pop();
      shown = `Showing last ${formatSize(cut.outputBytes)} of line ${cut.totalLines} (line is ${formatSize(Buffer.byteLength(line))})`;
    } else if (cut.truncatedBy === "bytes") {
      shown += ` (${formatSize(DEFAULT_MAX_BYTES)} limit)`;
    }
    return { text: `${cut.content}\n\n[${shown}. Full output: ${file}]`, details: { truncation: cut, fullOutputPath: file } };
  }
}

const changesCommand = (options) => ["operations", "spawnHook", "commandPrefix", "shellPath"].some((name) => options[name] !== undefined);

export const createReadTool = maker("read", runRead);
export const createWriteTool = maker("write", runWrite);
export const createEditTool = maker("edit", runEdit);
export const createLsTool = maker("ls", runLs);
export const createFindTool = maker("find", runFind);
export const createGrepTool = maker("grep", runGrep);
export const createBashTool = maker("bash", runBash, changesCommand);
export {
  createBashTool as createBashToolDefinition,
  createEditTool as createEditToolDefinition,
  createFindTool as createFindToolDefinition,
  createGrepTool as createGrepToolDefinition,
  createLsTool as createLsToolDefinition,
  createReadTool as createReadToolDefinition,
  createWriteTool as createWriteToolDefinition,
};

export function createCodingTools(cwd, options = {}) {
  return [createReadTool(cwd, options.read), createBashTool(cwd, options.bash), createEditTool(cwd, options.edit), createWriteTool(cwd, options.write)];
}

export function createReadOnlyTools(cwd, options = {}) {
  return [createReadTool(cwd, options.read), createGrepTool(cwd, options.grep), createFindTool(cwd, options.find), createLsTool(cwd, options.ls)];
}
