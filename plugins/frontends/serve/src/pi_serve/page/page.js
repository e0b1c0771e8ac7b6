// A client of a served session. What sessions hold becomes markup only in the server's renderer, which escapes it.

const $ = (id) => document.getElementById(id);
const transcript = $("transcript");
const observes = location.hash === "#observe";

function make(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

// The transcript

const entries = new Map();
let leaf = null, lastId = null, shown = null;
const tools = new Map(); // the calls of tools by their ids: the call, its result, whether it runs, and its box where it is drawn
let live = null;         // the message that is being written

// The reader is at the end until they scroll up; then the conversation stays where it is, whatever is added.

const log = make("div");
log.id = "log";
transcript.append(log);
let following = true, lastTop = 0;

function atBottom() {
  return transcript.scrollHeight - transcript.scrollTop - transcript.clientHeight < 80;
}

function toEnd() {
  following = true;
  transcript.scrollTop = transcript.scrollHeight;
  lastTop = transcript.scrollTop;
  $("latest").hidden = true;
}

transcript.addEventListener("scroll", () => {
  const top = transcript.scrollTop;
  if (atBottom()) following = true;
  else if (top < lastTop) following = false; // only a reader scrolls up: what is added makes the conversation longer
  lastTop = top;
  $("latest").hidden = following;
}, { passive: true });

const sizes = new ResizeObserver(() => { if (following) toEnd(); }); // pictures, fonts, and the keyboard of a phone, too
sizes.observe(log);
sizes.observe(transcript);

function keepingPlace(change) {
  change();
  if (following) toEnd();
}

// Markdown and the output of programs, rendered by the server when they come into view

const rendered = new Map(); // HTML by kind and text
const KEPT = 3000;
let wanted = [];
const underway = new Set(); // lists of what the server was asked for

function keyOf(wish) {
  return wish.kind === "call" ? JSON.stringify(wish) : `${wish.kind} ${wish.text}`;
}

function ready(wish) {
  return rendered.get(keyOf(wish));
}

function render(wish, then) { // a text, or a call with its result
  const known = ready(wish);
  if (known !== undefined) { then(known); return; }
  wanted.push({ wish, then });
  if (wanted.length === 1) queueMicrotask(sendWanted);
}

function sendWanted() {
  while (wanted.length) {
    const some = wanted.slice(0, 50);
    const isSent = askQuietly("render", { texts: some.map(({ wish }) => wish) }, ({ success, data }) => {
      underway.delete(some);
      some.forEach(({ wish, then }, place) => {
        const html = success ? data.html[place] : undefined;
        if (html === undefined) return; // it stays as it was written
        if (rendered.size > KEPT) rendered.clear();
        rendered.set(keyOf(wish), html);
        then(html);
      });
      if (following) toEnd();
    });
    if (!isSent) return; // until there is a connection again
    underway.add(some);
    wanted = wanted.slice(some.length);
  }
}

function sendAgain() { // what the last connection has not answered, and what came while there was none
  wanted = [...[...underway].flat(), ...wanted];
  underway.clear();
  sendWanted();
}

function fill(box, html) { // the renderer's markup has no scripts, no handlers and no addresses that are loaded; the policy forbids them, too
  const template = make("template");
  template.innerHTML = html;
  box.replaceChildren(template.content);
  dressCode(box);
}

let carried = []; // what has been rendered of the message that has just ended, until the whole is

const near = new IntersectionObserver((found) => {
  for (const { isIntersecting, target } of found) if (isIntersecting) { near.unobserve(target); target.show?.(); }
}, { root: transcript, rootMargin: "1200px 0px" });

function rich(kind, text, tag = "div") { // as it was written until it is rendered
  const box = make(tag, kind === "markdown" ? "md plain" : "plain"), known = ready({ kind, text });
  const show = (html) => { box.classList.remove("plain"); fill(box, html); };
  if (known !== undefined) show(known);
  else {
    const part = carried.find((each) => each.shown && text.startsWith(each.text));
    if (part) { box.classList.remove("plain"); box.append(part.md, part.tail); } else box.textContent = text;
    box.show = () => render({ kind, text }, show);
    near.observe(box);
  }
  return box;
}

function take(line) {
  if (line.reset) { entries.clear(); lastId = null; shown = null; following = true; refresh(); }
  for (const entry of line.entries) { entries.set(entry.id, entry); lastId = entry.id; }
  leaf = line.leaf;
  keepingPlace(show);
}

function path() {
  const found = [];
  for (let id = leaf; id !== null && entries.has(id); id = entries.get(id).parentId) found.push(entries.get(id));
  return found.reverse();
}

function show() {
  const whole = path();
  const place = shown === null ? -1 : whole.findIndex((entry) => entry.id === shown);
  const before = live?.done ? live : null;
  if (before) { live = null; carried = [...before.blocks.values()]; }
  if (place < 0) { log.replaceChildren(...(live ? [live.box] : [])); tools.clear(); }
  const added = whole.slice(place + 1);
  added.forEach((entry, number) => {
    const box = shellOf(entry);
    if (!box) return;
    log.insertBefore(box, live?.box ?? null);
    if (number >= added.length - AT_ONCE) box.build();
    visible.observe(box);
  });
  before?.box.remove();
  carried = [];
  shown = whole.at(-1)?.id ?? null;
  showTitle();
  greet();
  if ($("search").value) filter();
}

function greet() { // instead of an empty page
  $("hint").hidden = observes || log.querySelector(".user, .answer") !== null;
}

// Of a long conversation, only what is near the view has its content on the page.

const AT_ONCE = 12; // of the entries that come together, the last ones: they are in view in most cases

const visible = new IntersectionObserver((found) => {
  for (const { isIntersecting, target } of found) {
    if (isIntersecting) target.build();
    else target.clear();
  }
  if (following) toEnd();
}, { root: transcript, rootMargin: "2500px 0px" });

function shellOf(entry) { // an article that is empty far from the view
  const words = wordsOf(entry);
  if (words === null) return null;
  const message = entry.type === "message" ? entry.message : null;
  const shell = make("article", message?.role === "user" ? "user" : message?.role === "assistant" ? "answer" : "");
  const length = words().length;
  shell.words = words;
  shell.style.minHeight = `${Math.min(30, 2 + Math.ceil(length / 70)) * 1.5}rem`; // until its height is known
  shell.isTouched = false;
  shell.build = () => {
    if (shell.isBuilt) return;
    shell.isBuilt = true;
    const box = boxOf(entry);
    shell.className = box.className;
    shell.replaceChildren(...box.childNodes);
    shell.style.minHeight = "";
  };
  shell.clear = () => {
    if (!shell.isBuilt || shell.isTouched || shell.contains(document.activeElement) || getSelection().containsNode(shell, true)) return;
    shell.style.minHeight = `${shell.offsetHeight}px`;
    shell.isBuilt = false;
    shell.replaceChildren();
  };
  shell.addEventListener("click", (event) => { if (event.target.closest("summary")) shell.isTouched = true; });
  return shell;
}

function wordsOf(entry) { // returns what is searched, lazily; null for what is not displayed
  const texts = (content) => typeof content === "string" ? content : (content ?? []).map((each) => each.text ?? each.thinking ?? "").join(" ");
  const message = entry.message;
  switch (entry.type === "message" ? message.role : entry.type) {
    case "user": return () => texts(message.content);
    case "assistant": {
      const own = (message.content ?? []).filter((each) => each.type === "toolCall");
      for (const each of own) know(each);
      return () => [texts(message.content), message.errorMessage ?? "", ...own.map(({ id }) => wordsOfCall(id))].join(" ");
    }
    case "toolResult": {
      const isKnown = tools.has(message.toolCallId);
      finished(message.toolCallId, message.toolName, message);
      return isKnown ? null : () => wordsOfCall(message.toolCallId);
    }
    case "bashExecution": return () => `${message.command} ${message.output ?? ""}`;
    case "custom_message": return entry.display ? () => texts(entry.content) : null;
    case "compaction":
    case "branch_summary": return () => entry.summary ?? "";
    case "model_change": return () => `${entry.provider}/${entry.modelId}`;
    default: return null;
  }
}

function boxOf(entry) {
  switch (entry.type) {
    case "message": return boxOfMessage(entry.message);
    case "custom_message": return withContent(make("article", "note"), entry.content);
    case "compaction":
    case "branch_summary": return folded("Summary of the earlier conversation", rich("markdown", entry.summary ?? ""));
    default: return make("article", "note", `Model: ${entry.provider}/${entry.modelId}`);
  }
}

function boxOfMessage(message) {
  switch (message.role) {
    case "user": return withContent(make("article", "user"), message.content);
    case "assistant": return boxOfAnswer(message);
    case "toolResult": { const box = make("article"); box.append(boxOfCall(message.toolCallId)); return box; }
    default: return folded(`! ${message.command}`, rich("output", message.output ?? "", "pre"), true);
  }
}

function folded(title, content, open = false) {
  const box = make("article"), details = make("details");
  details.open = open;
  details.append(make("summary", "", title), content);
  box.append(details);
  return box;
}

function withContent(box, content) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content ?? [];
  for (const block of blocks) {
    if (block.type === "text") { if (block.text.trim()) box.append(rich("markdown", block.text)); }
    else if (block.type === "image") box.append(picture(block));
  }
  return box;
}

function picture(block) {
  if (!/^image\/(png|jpeg|gif|webp)$/.test(block.mimeType ?? "")) return make("p", "note", "[image]");
  const image = make("img");
  image.src = `data:${block.mimeType};base64,${block.data}`;
  image.alt = "image";
  return image;
}

function boxOfAnswer(message) {
  const box = make("article", "answer");
  for (const block of message.content ?? []) {
    if (block.type === "text") { if (block.text.trim()) box.append(rich("markdown", block.text)); }
    else if (block.type === "thinking" && block.thinking) box.append(thinking(block.thinking));
    else if (block.type === "toolCall") { know(block); box.append(boxOfCall(block.id)); }
  }
  if (message.errorMessage && message.stopReason !== "aborted") box.append(problem(message.errorMessage));
  else if (message.stopReason === "aborted") box.append(make("p", "note", "Stopped"));
  return box;
}

function thinking(text) {
  const details = make("details", "thinking"), summary = make("summary");
  summary.append(make("b", "", "Thinking"), " ", make("span", "", text.trim().split("\n")[0].slice(0, 100)));
  details.append(summary, rich("markdown", text));
  return details;
}

const LONG = 400;

function problem(text) { // its beginning, and the rest of a long one folded
  const words = text.trim(), box = make("div", "failed plain");
  if (words.length <= LONG) { box.textContent = words; return box; }
  const cut = words.lastIndexOf(" ", LONG * 0.7), end = cut > LONG / 2 ? cut : Math.floor(LONG * 0.7);
  const more = make("details", "more");
  more.append(make("summary", "", "The whole message"), make("div", "", words));
  box.append(`${words.slice(0, end)} …`, more);
  return box;
}

// Calls of tools: what is known of each, drawn by the server

function know({ id, name, arguments: given }) {
  const tool = tools.get(id);
  if (tool) Object.assign(tool, { name, given: given ?? tool.given });
  else tools.set(id, { id, name, given: given ?? {}, result: null, isRunning: false, box: null, timer: null });
  return tools.get(id);
}

function finished(id, name, result) {
  const { content, isError, details, durationMs, usage, timestamp } = result;
  change(know({ id, name }), { content: content ?? [], isError: isError === true, details, durationMs, usage, timestamp: timestamp ?? 0 }, false);
}

function runs(id, name, partial) {
  const tool = know({ id, name });
  if (tool.result && !tool.isRunning) return; // an event that comes late
  change(tool, partial?.content ? { content: partial.content, isError: false, timestamp: 0 } : null, true);
}

function change(tool, result, isRunning) {
  Object.assign(tool, { result, isRunning });
  if (!tool.box?.isConnected) return;
  if (!isRunning) { clearTimeout(tool.timer); tool.timer = null; draw(tool); return; }
  tool.timer ??= setTimeout(() => { tool.timer = null; draw(tool); }, PAUSE);
}

function wordsOfCall(id) {
  const tool = tools.get(id);
  return tool ? [tool.name, JSON.stringify(tool.given), ...(tool.result?.content ?? []).map((each) => each.text ?? "")].join(" ") : "";
}

function boxOfCall(id) {
  const tool = tools.get(id);
  tool.box = make("div", "call");
  const waiting = make("details", "tool open"), head = make("summary"); // for the moment until it is drawn
  head.append(make("b", "", tool.name));
  waiting.append(head);
  tool.box.append(waiting);
  draw(tool);
  return tool.box;
}

const ENOUGH = 8000;

function draw(tool) {
  const { box, result } = tool, pictures = (result?.content ?? []).filter((each) => each.type === "image");
  const end = (each) => tool.isRunning && each.text ? { ...each, text: each.text.slice(-ENOUGH) } : each; // its last lines are drawn
  const blocks = result?.content.filter((each) => each.type !== "image").map(end); // pictures are here already
  const wish = { kind: "call", call: { id: tool.id, name: tool.name, arguments: tool.given }, result: result && { ...result, content: blocks }, running: tool.isRunning };
  const isOfNow = () => box === tool.box && result === tool.result;
  render(wish, (html) => {
    if (!isOfNow() || !html) return;
    const known = box.firstElementChild, wasSet = known.isSet, wasOpen = known.open;
    const wasFocused = document.activeElement === known.firstElementChild;
    fill(box, html);
    const details = box.firstElementChild;
    if (pictures.length) { details.append(...pictures.map(picture)); details.open = true; }
    if (wasSet) { details.open = wasOpen; details.isSet = true; }
    details.firstElementChild.addEventListener("click", () => { details.isSet = true; });
    if (wasFocused) details.firstElementChild.focus();
  });
}

// The message that is being written

function begin(message) {
  live?.box.remove();
  live = { box: boxOfAnswer(message), blocks: new Map(), done: false };
  log.append(live.box);
}

function grow(change) { // by an event of the stream
  if (!live) begin({ content: [] });
  const { type, contentIndex: place } = change;
  if (type === "text_start" || type === "thinking_start") startBlock(place, type);
  else if (type === "text_delta" || type === "thinking_delta") {
    if (!live.blocks.has(place)) startBlock(place, type);
    live.blocks.get(place).add(change.delta);
  } else if (type === "toolcall_end") {
    know(change.toolCall).isRunning = true;
    live.box.append(boxOfCall(change.toolCall.id));
  }
}

const PAUSE = 200;

class LiveText { // rendered again and again while it grows, at most a fifth of the time; what came since is plain
  constructor(root) {
    Object.assign(this, { text: "", shown: 0, md: make("div", "md"), tail: make("div", "plain"), busy: false });
    root.append(this.md, this.tail);
  }
  add(words) {
    this.text += words;
    this.tail.textContent = this.text.slice(this.shown);
    if (!this.busy) { this.busy = true; setTimeout(() => this.draw(), PAUSE); }
  }
  draw() {
    const text = this.text, begun = performance.now();
    if (!this.md.isConnected) return;
    render({ kind: "markdown", text }, (html) => {
      fill(this.md, html);
      this.shown = text.length;
      this.tail.textContent = this.text.slice(this.shown);
      const wait = Math.max(PAUSE, 4 * (performance.now() - begun));
      setTimeout(() => { this.busy = false; if (this.text.length > this.shown) this.add(""); }, wait);
    });
  }
}

function startBlock(place, type) {
  let root = live.box;
  if (type.startsWith("thinking")) {
    const details = make("details", "thinking");
    details.open = true;
    details.append(make("summary", "", "Thinking"));
    root.append(root = details);
  }
  live.blocks.set(place, new LiveText(root));
}

// What the server sends

const handlers = {
  hello(line) { known = null; queued = []; drawTray(); facts(line); refresh(); sendAgain(); },
  entries: take,
  agent_start() { working(true); },
  agent_settled({ aborted }) {
    for (const tool of tools.values()) if (tool.isRunning && !tool.result) change(tool, null, false); // stopped before it ran
    working(false); refresh(); if (!aborted) alarm("pi is done", $("name").textContent);
  },
  queue_update({ steering, followUp }) {
    const listed = (queue, texts) => texts.map((words, place) => ({ queue, place, words }));
    queued = [...listed("steer", steering), ...listed("followUp", followUp)];
    drawTray();
  },
  message_start({ message }) { if (message.role === "assistant") keepingPlace(() => begin(message)); },
  message_update(line) { keepingPlace(() => grow(line.assistantMessageEvent)); },
  message_end({ message }) { if (message.role === "assistant" && live) live.done = true; },
  tool_execution_start({ toolCallId, toolName }) { runs(toolCallId, toolName, null); },
  tool_execution_update({ toolCallId, toolName, partialResult }) { runs(toolCallId, toolName, partialResult); },
  tool_execution_end({ toolCallId, toolName, result: told, isError }) { finished(toolCallId, toolName, { ...told, isError }); },
  auto_retry_start(line) { note(`Retrying: ${line.errorMessage}`, true); },
  compaction_start() { note("Compacting the conversation"); },
  extension_error(line) { note(`${line.extensionPath ?? "A plugin"}: ${line.error}`, true); },
  extension_ui_request: asked,
  extension_ui_closed({ id }) { forget(id); },
  dropped(line) { note(line.error, true); },
  error(line) { note(line.error, true); },
  response(line) {
    const then = answers.get(line.id);
    answers.delete(line.id);
    then?.(line);
  },
};

function note(text, failed = false) {
  const box = make("article", failed ? "note failed" : "note", failed ? "" : text);
  if (failed) box.append(problem(text));
  keepingPlace(() => log.append(box));
}

let named = "";

function firstWords() { // of the first message
  const first = path().find((each) => each.type === "message" && each.message.role === "user")?.message.content;
  const words = (typeof first === "string" ? first : (first ?? []).map((each) => each.text ?? "").join(" ")).replace(/\s+/g, " ").trim();
  return words.length > 60 ? `${words.slice(0, 59)}…` : words;
}

function showTitle() {
  $("name").textContent = named || firstWords() || session?.slice(0, 8) || "pi";
  document.title = `${open.length ? "● " : ""}${$("name").textContent} · pi`;
}

function facts({ sessionName, sessionId, model, cwd, isStreaming }) {
  if (sessionId) session = sessionId;
  if (sessionId) { named = sessionName || ""; showTitle(); }
  if (cwd) $("facts").dataset.cwd = cwd;
  const name = model ? `${model.provider}/${model.id}` : "";
  if (name) $("facts").dataset.model = name;
  $("facts").textContent = [name, $("facts").dataset.cwd].filter(Boolean).join(" · ");
  $("where").textContent = $("facts").dataset.cwd ?? "";
  if (isStreaming !== undefined) working(isStreaming);
}

function refresh() { // also when another session has taken the place of this one
  ask("get_state");
  ask("get_session_stats", {}, showCost);
}

function showCost({ success, data }) {
  if (success) $("cost").textContent = data.cost ? `$${data.cost.toFixed(data.cost < 1 ? 4 : 2)}` : "";
}

let isWorking = false;
function working(now) {
  isWorking = now;
  $("stop").hidden = !now || observes;
  $("state").textContent = now ? "working" : observes ? "observing" : "ready";
  fit();
}

// Dialogs of plugins

const open = []; // the first one is displayed

function asked(request) {
  if (["select", "confirm", "input", "editor"].includes(request.method)) {
    open.push(request);
    if (open.length === 1) display();
    if (!request.then) alarm("pi asks", request.title ?? "");
  } else if (request.method === "notify") note(request.message, request.notifyType === "error");
  else if (request.method === "set_editor_text") write(request.text);
  else if (request.method === "setStatus") setNews(request.statusKey, request.statusText);
  else if (request.method === "setWidget") setNews(request.widgetKey, request.widgetLines?.join("\n"));
}

const news = new Map(); // what plugins show near the prompt

function setNews(key, words) {
  if (words) news.set(key, words); else news.delete(key);
  drawTray();
}

function forget(id) {
  const place = open.findIndex((each) => each.id === id);
  if (place < 0) return;
  open.splice(place, 1);
  if (place === 0) { $("dialog").close("closed"); display(); }
  showTitle();
}

// Notifications, while the page is open in the background

function alarm(title, words) {
  if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
  const shown = new Notification(title, { body: words.slice(0, 200), icon: "icon.svg", tag: "pi" });
  shown.addEventListener("click", () => { focus(); shown.close(); });
}

function mayNotify() {
  return globalThis.Notification && isSecureContext ? Notification.permission : "denied";
}

$("notify").addEventListener("click", async () => {
  await Notification.requestPermission();
  $("notify").hidden = mayNotify() !== "default";
});

function display() {
  const request = open[0];
  showTitle();
  if (!request) return;
  const [first, ...rest] = (request.title ?? "").split(/\n\s*\n/); // a question, and what it is about
  $("title").textContent = first;
  $("message").textContent = [...rest, request.message].filter(Boolean).join("\n\n");
  $("message").hidden = !$("message").textContent;
  $("confirm").textContent = request.method === "confirm" ? "Yes" : "OK";
  $("dismiss").textContent = request.method === "confirm" ? "No" : "Cancel";
  $("fields").replaceChildren(...fields(request));
  if (!$("dialog").open) $("dialog").showModal();
  $("fields").querySelector("input:checked")?.scrollIntoView({ block: "nearest" });
}

function fields(request) {
  if (request.method === "select") {
    const labels = (request.options ?? []).map((option, number) => {
      const label = make("label"), choice = make("input");
      const [value, words] = typeof option === "string" ? [option, option] : option;
      Object.assign(choice, { type: "radio", name: "choice", value, checked: value === request.chosen || (number === 0 && !request.chosen) });
      label.append(choice, words);
      return label;
    });
    return labels.length > MANY ? [finder(labels, request.find ?? ""), ...labels] : labels;
  }
  if (request.method === "confirm") return [];
  const field = make(request.method === "editor" ? "textarea" : "input");
  field.id = "value";
  field.value = request.prefill ?? "";
  field.placeholder = request.placeholder ?? "";
  if (request.method === "editor") field.rows = 8;
  return [field];
}

const MANY = 8;

function finder(labels, words) { // narrows a long list, and chooses the first that is left
  const field = make("input");
  Object.assign(field, { type: "search", placeholder: "Search", value: words, autocomplete: "off" });
  field.setAttribute("aria-label", "Search the list");
  const narrow = () => {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const label of labels) label.hidden = !parts.every((part) => label.textContent.toLowerCase().includes(part));
    const left = labels.filter((label) => !label.hidden);
    if (left.length && !left.some((label) => label.firstChild.checked)) left[0].firstChild.checked = true;
    for (const label of labels) if (label.hidden) label.firstChild.checked = false;
  };
  field.addEventListener("input", narrow);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); $("confirm").click(); }
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    labels.find((label) => label.firstChild.checked)?.firstChild.focus();
  });
  if (words) narrow();
  return field;
}

$("dialog").addEventListener("close", () => {
  const request = open[0];
  if (!request || $("dialog").returnValue === "closed") return;
  open.shift();
  const answer = answerTo(request, $("dialog").returnValue === "yes");
  if (request.then) request.then(answer.value);
  else send({ type: "extension_ui_response", id: request.id, ...answer });
  $("dialog").returnValue = "";
  display();
});
$("dismiss").addEventListener("click", () => $("dialog").close("")); // no submit button: Enter would press the first
$("dialog").addEventListener("cancel", () => { $("dialog").returnValue = ""; });

function answerTo(request, yes) {
  if (request.method === "confirm") return { confirmed: yes };
  if (!yes) return { cancelled: true };
  const chosen = $("fields").querySelector("input[type=radio]:checked") ?? $("value");
  return chosen ? { value: chosen.value } : { cancelled: true };
}

// The prompt

const text = $("text");

$("prompt").addEventListener("submit", (event) => {
  event.preventDefault();
  const message = text.value, sent = [...images];
  if (!message.trim()) return;
  const command = /^\/([a-z][\w:-]*)(?:\s+([^]*))?$/.exec(message.trimEnd());
  if (command) carryOut(message, command[1], command[2] ?? "");
  else sendPrompt(message, sent);
});

function write(words) {
  text.value = words;
  fit();
  offer();
}

let unanswered = []; // the prompts that the server has not accepted yet

function sendPrompt(message, sent) {
  const request = { message, ...(sent.length ? { images: sent } : {}), ...(isWorking ? { streamingBehavior: "steer" } : {}) };
  const isSent = ask("prompt", request, (answer) => {
    if (answer.success) images = images.filter((each) => !sent.includes(each));
    else note(answer.error, true);
    settle(message, answer.success);
    working(isWorking);
    drawTray();
  });
  if (!isSent) return false;
  unanswered.push(message);
  toEnd();
  if (text.value === message) write(""); // a command of a plugin is sent later, below what is typed meanwhile
  $("state").textContent = "sending";
  return true;
}

function settle(message, isAccepted) { // else it comes back
  unanswered.splice(unanswered.indexOf(message), 1);
  if (!isAccepted) write([message, text.value].filter(Boolean).join("\n\n"));
}

function takeBack() { // without an answer, they may have been accepted
  if (unanswered.length && !text.value) write(unanswered.join("\n\n"));
  unanswered = [];
}

// Commands: those of the page, and those of plugins, which the server carries out

function result(then) {
  return (answer) => { if (answer.success) then(answer.data ?? {}); else note(answer.error, true); };
}

const COMMANDS = {
  new: () => ask("new_session"),
  fork: () => ask("get_fork_messages", {}, result(({ messages }) => {
    const choices = new Map(messages.map((each, number) => [`${number + 1}. ${each.text.slice(0, 200)}`, each.entryId]));
    if (!choices.size) { note("There is no message yet.", true); return; }
    asked({ method: "select", title: "Fork before which message?", options: [...choices.keys()], then: (name) => {
      if (choices.has(name)) ask("fork", { entryId: choices.get(name) }, result((copy) => { if (!copy.cancelled) write(copy.text); }));
    } });
  })),
  name: (words) => ask("set_session_name", { name: words }, result(() => ask("get_state"))),
  model: (words) => chooseModel(words),
  thinking: (words) => chooseThinking(words),
  tree: () => chooseInTree(),
  resume: () => { $("sessions").open = true; },
  compact: (words) => ask("compact", words ? { customInstructions: words } : {}, result(() => note("The conversation is compacted"))),
  export: (words) => ask("export_html", words ? { outputPath: words } : {}, result((file) => note(`Exported to ${file.path}`))),
  copy: () => ask("get_last_assistant_text", {}, result(async ({ text: words }) => {
    if (!words) { note("There is no answer yet.", true); return; }
    try { await navigator.clipboard.writeText(words); note("The last answer is copied"); } catch { note("The browser does not let the page copy. Select the text instead.", true); }
  })),
  help: () => ask("get_commands", {}, result(({ commands }) => {
    const box = make("article", "note"), list = make("dl");
    for (const { name, description } of allCommands(commands)) list.append(make("dt", "", `/${name}`), make("dd", "", description));
    box.append(make("p", "", "Commands: type / to choose one. Keys: Enter sends, Shift+Enter begins a line, / searches, Escape closes."), list);
    keepingPlace(() => log.append(box));
  })),
};

const OWN = { new: "Begin a new session", fork: "Copy the session up to one of your messages", name: "Name the session", model: "Choose the model",
  thinking: "Choose how much the model thinks", tree: "Continue from another message of the conversation", resume: "Open an earlier session",
  compact: "Summarize the conversation to make room", export: "Write the conversation to an HTML file", copy: "Copy the last answer", help: "List the commands and keys" };

function allCommands(known) {
  const own = Object.entries(OWN).map(([name, description]) => ({ name, description }));
  const others = known.filter(({ name }) => !Object.hasOwn(OWN, name)).map(({ name, description }) => ({ name, description: description ?? "" }));
  return [...own, ...others.sort((one, other) => one.name.localeCompare(other.name))];
}

// The menu of commands above the prompt

let offered = [], chosen = 0, known = null;

function offer() {
  const word = /^\/([\w:-]*)$/.exec(text.value)?.[1];
  if (word === undefined || observes) { closeMenu(); return; }
  if (known === null) {
    known = [];
    askQuietly("get_commands", {}, ({ success, data }) => { known = success ? data.commands : []; if (document.activeElement === text) offer(); });
  }
  const all = allCommands(known);
  offered = [...all.filter(({ name }) => name.startsWith(word)), ...all.filter(({ name }) => word && !name.startsWith(word) && name.includes(word))].slice(0, 50);
  chosen = 0;
  $("commands").hidden = !offered.length;
  $("commands").replaceChildren(...offered.map(({ name, description }, number) => {
    const item = make("li");
    Object.assign(item, { id: `command-${number}`, role: "option" });
    item.append(make("b", "", `/${name}`), " ", make("span", "", description));
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); chosen = number; complete(); });
    return item;
  }));
  mark();
}

function mark() {
  [...$("commands").children].forEach((each, number) => each.setAttribute("aria-selected", String(number === chosen)));
  const item = $("commands").children[chosen];
  item?.scrollIntoView({ block: "nearest" });
  if (item) text.setAttribute("aria-activedescendant", item.id); else text.removeAttribute("aria-activedescendant");
}

function closeMenu() {
  offered = [];
  $("commands").hidden = true;
  text.removeAttribute("aria-activedescendant");
}

function complete() {
  text.value = `/${offered[chosen].name} `;
  closeMenu();
  fit();
  text.focus();
}

function menuKey(event) { // whether the menu has used the key
  if (!offered.length || event.isComposing) return false;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
    mark();
  } else if (event.key === "Tab" && !event.shiftKey) complete();
  else if (event.key === "Enter" && text.value !== `/${offered[chosen].name}`) complete();
  else if (event.key === "Escape") closeMenu();
  else return false;
  event.preventDefault();
  return true;
}

function carryOut(message, name, words) {
  if (Object.hasOwn(COMMANDS, name)) {
    write("");
    COMMANDS[name](words.trim());
    return;
  }
  const sent = [...images];
  const isAsked = ask("get_commands", {}, ({ success, data, error }) => {
    const isKnown = success && data.commands.some((each) => each.name === name);
    if (!isKnown) note(success ? `There is no command /${name} here; /help lists them. A space before it sends it as text.` : error, true);
    settle(message, isKnown && sendPrompt(message, sent));
  });
  if (!isAsked) return;
  unanswered.push(message);
  write("");
}

// Images and queued messages, above the prompt

const LARGEST = 10_000_000;
let images = [], queued = [];

function attach(files) {
  for (const file of files) {
    if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) { note(`${file.name} is not a PNG, JPEG, GIF or WebP image.`, true); continue; }
    if (file.size > LARGEST) { note(`${file.name} has more than ${LARGEST / 1e6} MB.`, true); continue; }
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      images.push({ type: "image", mimeType: file.type, data: reader.result.split(",")[1] });
      drawTray();
    });
    reader.readAsDataURL(file);
  }
}

function drawTray() {
  $("tray").hidden = !images.length && !queued.length && !news.size;
  $("news").hidden = !news.size;
  $("news").textContent = [...news.values()].join("\n");
  $("unqueue").hidden = queued.length < 2 || observes;
  $("queue").replaceChildren(...queued.map(queuedItem));
  $("attached").replaceChildren(...images.map((image) => {
    const item = make("li"), remove = make("button", "plain", "Remove");
    remove.type = "button";
    remove.addEventListener("click", () => { images = images.filter((each) => each !== image); drawTray(); });
    item.append(picture(image), remove);
    return item;
  }));
}

function queuedItem(message) {
  const item = make("li"), words = message.words.replace(/\s+/g, " ").trim();
  item.append(make("span", "", `Queued: ${words.length > 200 ? `${words.slice(0, 199)}…` : words}`));
  if (observes) return item;
  for (const [name, then] of [["Edit", edit], ["Remove", (taken) => { if (taken.text !== message.words) edit(taken); }]]) {
    const button = make("button", "plain", name); // what was not the one that is shown here is kept
    button.type = "button";
    button.setAttribute("aria-label", `${name} the queued message: ${words.slice(0, 60)}`);
    button.addEventListener("click", () => ask("take_queued", { queue: message.queue, place: message.place }, result(then)));
    item.append(button);
  }
  return item;
}

function edit({ text: words, images: more }) {
  images.push(...(more ?? []));
  write([words, text.value].filter(Boolean).join("\n\n"));
  drawTray();
  text.focus();
}

$("attach").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", () => { attach($("files").files); $("files").value = ""; });
text.addEventListener("paste", (event) => { if (event.clipboardData.files.length) { event.preventDefault(); attach(event.clipboardData.files); } });
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); attach(event.dataTransfer.files); });

function takeAllBack() {
  ask("clear_queue", {}, result(({ steering, followUp }) => write([...steering, ...followUp, text.value].filter(Boolean).join("\n\n"))));
}

$("unqueue").addEventListener("click", takeAllBack);

// The model

$("model").disabled = observes;
$("model").addEventListener("click", () => chooseModel(""));

function chooseModel(words) { // at once if the words name one
  ask("get_available_models", {}, result((data) => {
    const models = new Map(data.models.map((each) => [`${each.provider}/${each.id}`, each])), low = words.toLowerCase();
    const take = (name) => {
      const model = models.get(name);
      if (model) ask("set_model", { provider: model.provider, modelId: model.id }, result(() => ask("get_state")));
    };
    const exact = [...models.keys()].filter((name) => name.toLowerCase() === low || models.get(name).id.toLowerCase() === low);
    const like = [...models.keys()].filter((name) => name.toLowerCase().includes(low));
    const one = exact.length === 1 ? exact[0] : words && like.length === 1 ? like[0] : null;
    if (one) { take(one); return; }
    if (words && !like.length) note(`No model is called ${words}.`, true);
    const find = like.length ? words : "";
    asked({ method: "select", title: "Model", options: [...models.keys()], chosen: $("facts").dataset.model, find, then: take });
  }));
}

function chooseThinking(words) {
  ask("get_available_thinking_levels", {}, result(({ levels }) => {
    const take = (level) => { if (levels.includes(level)) ask("set_thinking_level", { level }, result(() => note(`Thinking: ${level}`))); };
    if (levels.includes(words)) take(words);
    else ask("get_state", {}, result((state) => asked({ method: "select", title: "Thinking", options: levels, chosen: state.thinkingLevel, then: take })));
  }));
}

// The tree: the user's messages on every branch, and where each branch ends

function chooseInTree() {
  const children = Map.groupBy([...entries.values()], (entry) => entry.parentId), here = new Set(path().map(({ id }) => id)), rows = [];
  const stack = [...(children.get(null) ?? [])].reverse().map((entry) => [entry, 0]);
  while (stack.length) {
    const [entry, depth] = stack.pop(), below = children.get(entry.id) ?? [];
    const isUser = entry.message?.role === "user";
    if (isUser || (!below.length && entry.id !== leaf)) {
      const words = (wordsOf(entry)?.() ?? "").replace(/\s+/g, " ").trim().slice(0, 120);
      if (words) rows.push([entry.id, `${"│ ".repeat(Math.min(depth, 12))}${isUser ? "" : "end: "}${words}${here.has(entry.id) ? "" : " (another branch)"}`]);
    }
    stack.push(...below.map((each) => [each, depth + (below.length > 1 ? 1 : 0)]).reverse());
  }
  if (!rows.length) { note("There is no message yet.", true); return; }
  const last = rows.findLast(([id]) => here.has(id))?.[0];
  asked({ method: "select", title: "Continue before which message, or at the end of which branch?", options: rows, chosen: last, then: (entryId) => {
    if (entryId) ask("navigate_tree", { entryId }, result((moved) => { if (!moved.cancelled && moved.text) write(moved.text); }));
  } });
}

// Search

function filter() {
  const words = $("search").value.toLowerCase();
  for (const box of log.children) box.hidden = !(box.words?.() ?? box.textContent).toLowerCase().includes(words);
}

$("search").addEventListener("input", filter);
$("search").addEventListener("keydown", (event) => { if (event.key === "Escape") { $("search").value = ""; filter(); text.focus(); } });
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, dialog")) return;
  event.preventDefault();
  $("search").focus();
});

text.addEventListener("keydown", (event) => {
  if (menuKey(event)) return;
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { // on a phone it is the key "send"
    event.preventDefault();
    $("prompt").requestSubmit();
  }
});
text.addEventListener("input", () => { fit(); offer(); });
text.addEventListener("blur", closeMenu);
$("latest").addEventListener("click", () => { toEnd(); if (!matchMedia("(pointer: coarse)").matches) text.focus(); });
$("notify").hidden = mayNotify() !== "default";

function fit() {
  $("send").hidden = isWorking && !text.value.trim(); // beside Stop, a phone has no room for what does nothing
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

$("stop").addEventListener("click", () => { // what is queued comes back, as on the screen: else it would join the next prompt
  if (queued.length) takeAllBack();
  ask("abort");
});
$("prompt").hidden = observes;
if (!matchMedia("(pointer: coarse)").matches) text.focus();

// Other served sessions

const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
let session = null;

function choice(words, then) { // in the menu
  const item = make("li"), button = make("button", "plain", words);
  button.addEventListener("click", () => { $("sessions").open = false; then(); });
  item.append(button);
  return item;
}

function age(time) {
  const minutes = Math.max(0, (Date.now() - new Date(time)) / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${Math.floor(minutes)} min ago`;
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)} h ago`;
  return minutes < 60 * 24 * 30 ? `${Math.floor(minutes / 60 / 24)} days ago`.replace(/^1 days/, "1 day") : new Date(time).toLocaleDateString();
}

document.addEventListener("pointerdown", (event) => { if (!event.target.closest("#sessions")) $("sessions").open = false; });
$("sessions").addEventListener("keydown", (event) => { if (event.key === "Escape") { $("sessions").open = false; $("sessions").firstElementChild.focus(); } });
$("sessions").addEventListener("toggle", async () => {
  if (!$("sessions").open) return;
  const [served, stored] = await Promise.all(["sessions", "stored"].map(async (name) => {
    const answer = await fetch(name);
    return answer.ok ? answer.json() : [];
  }));
  const title = new Map(stored.map((each) => [each.session, each.title]));
  const isElsewhere = new Set(served.map((each) => each.session));
  const hasAgents = (number) => (stored[number + 1]?.depth ?? 0) > stored[number].depth;
  const earlier = stored.filter((each, number) => each.session === session ? hasAgents(number) : !isElsewhere.has(each.session));
  $("earlier").replaceChildren(...(observes ? [] : earlier.map(storedItem)));
  $("earlier").parentElement.hidden = observes || !earlier.length;
  $("list").replaceChildren(...(observes ? [] : [choice("New session", COMMANDS.new)]), ...served.map((each) => servedItem(each, title)));
});

function storedItem({ session: id, title, path: sessionPath, modified, depth }) {
  const item = choice(title, id === session ? () => {} : () => ask("switch_session", { sessionPath }));
  item.firstChild.append(make("small", "", `${age(modified)}${depth ? " · agent" : ""}`));
  item.className = depth ? "nested" : "";
  if (id === session) item.firstChild.setAttribute("aria-current", "page");
  return item;
}

function servedItem(each, title) {
  const address = isHere ? each.url : each.public; // an address of this computer leads a phone to the phone
  const item = make("li"), link = make(address ? "a" : "span"), isThis = each.session === session;
  const name = (isThis && (named || firstWords())) || each.title || title.get(each.session) || each.session.slice(0, 8);
  link.append(name, make("small", "", each.cwd));
  if (address) link.href = address;
  if (isThis) link.setAttribute("aria-current", "page");
  item.append(link);
  return item;
}

// The connection

let socket = null, number = 0, wait = 500;
const answers = new Map();

function send(line) {
  if (socket?.readyState === WebSocket.OPEN) { socket.send(JSON.stringify(line)); return true; }
  note("Not connected; what you wrote was not sent.", true);
  return false;
}

function askQuietly(type, more, then) { // without a word if there is no connection
  if (socket?.readyState !== WebSocket.OPEN) return false;
  const id = `web${++number}`;
  answers.set(id, then);
  socket.send(JSON.stringify({ type, id, ...more }));
  return true;
}

function ask(type, more = {}, then = null) {
  const id = `web${++number}`;
  answers.set(id, then ?? ((answer) => {
    if (!answer.success) note(answer.error, true);
    else if (type === "get_state") facts(answer.data);
  }));
  return send({ id, type, ...more });
}

function connect() {
  const address = new URL("socket", location.href); // below the prefix of a proxy, if there is one
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  address.hash = "";
  socket = new WebSocket(address);
  socket.addEventListener("open", () => {
    wait = 500;
    const since = lastId === null ? {} : { since: lastId };
    socket.send(JSON.stringify({ type: "hello", role: observes ? "observe" : "control", client: "web page", ...since }));
  });
  socket.addEventListener("message", (event) => {
    const line = JSON.parse(event.data);
    handlers[line.type]?.(line);
  });
  socket.addEventListener("close", () => {
    $("state").textContent = "reconnecting";
    live?.box.remove();
    live = null;
    answers.clear();
    takeBack();
    news.clear();
    while (open.length) forget(open[0].id);
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, 10000);
  });
}

connect();
