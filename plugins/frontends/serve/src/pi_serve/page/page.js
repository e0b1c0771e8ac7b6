// A client of a served session. What sessions hold reaches the page as text only, never as markup.

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
const calls = new Map(); // the boxes of tool calls, by their ids
let live = null;         // the message that is being written

function atBottom() {
  return transcript.scrollHeight - transcript.scrollTop - transcript.clientHeight < 80;
}

function keepingPlace(change) {
  const follow = atBottom();
  change();
  if (follow) transcript.scrollTop = transcript.scrollHeight;
}

function take(line) {
  if (line.reset) { entries.clear(); lastId = null; shown = null; refresh(); }
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
  const known = shown === null ? -1 : whole.findIndex((entry) => entry.id === shown);
  if (live?.done) { live.box.remove(); live = null; }
  if (known < 0) { transcript.replaceChildren(...(live ? [live.box] : [])); calls.clear(); }
  for (const entry of whole.slice(known + 1)) {
    const box = boxOf(entry);
    if (box) transcript.insertBefore(box, live?.box ?? null);
  }
  shown = whole.at(-1)?.id ?? null;
  if ($("search").value) filter();
}

function boxOf(entry) {
  switch (entry.type) {
    case "message": return boxOfMessage(entry.message);
    case "custom_message": return entry.display ? withContent(make("article", "note"), entry.content) : null;
    case "compaction":
    case "branch_summary": return folded("Summary of the earlier conversation", entry.summary);
    case "model_change": return make("article", "note", `Model: ${entry.provider}/${entry.modelId}`);
    default: return null;
  }
}

function boxOfMessage(message) {
  switch (message.role) {
    case "user": return withContent(make("article", "user"), message.content);
    case "assistant": return boxOfAnswer(message);
    case "toolResult": showResult(message.toolCallId, message.toolName, message); return null;
    case "bashExecution": return folded(`! ${message.command}`, message.output, true);
    default: return null;
  }
}

function folded(title, text, open = false) {
  const box = make("article"), details = make("details");
  details.open = open;
  details.append(make("summary", "", title), make("pre", "", text ?? ""));
  box.append(details);
  return box;
}

function withContent(box, content) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content ?? [];
  for (const block of blocks) {
    if (block.type === "text") appendText(box, block.text);
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

function appendText(box, text) { // code between fences is shown as such
  text.split(/^```.*$/m).forEach((part, number) => {
    const words = part.replace(/^\n+/, "").trimEnd();
    if (words) box.append(...(number % 2 ? [make("pre", "", words)] : blocks(words)));
  });
}

function blocks(text) { // headings, tables as they are written, and paragraphs
  const made = [];
  for (const line of text.split("\n")) {
    const heading = /^(#{1,5}) +(.+)/.exec(line), kind = heading ? `h${heading[1].length + 1}` : line.startsWith("|") ? "pre" : "p";
    const last = made.at(-1);
    if (last?.kind === kind && !heading) last.words += `\n${line}`;
    else made.push({ kind, words: heading ? heading[2] : line });
  }
  return made.filter(({ words }) => words.trim()).map(({ kind, words }) => inline(make(kind), words.trim()));
}

function inline(made, text) { // `code`, **strong** and [links](https://...) are shown as such
  text.split(/`([^`\n]+)`/).forEach((part, number) => {
    if (number % 2) { made.append(make("code", "", part)); return; }
    part.split(/\*\*([^*\n]+)\*\*/).forEach((words, place) => made.append(...(place % 2 ? [make("strong", "", words)] : links(words))));
  });
  return made;
}

function links(text) {
  return text.split(/(\[[^[\]\n]+\]\(https?:\/\/[^\s()]+\))/).map((part, number) => { // no [ in the words: a row of them would take hours
    if (number % 2 === 0) return part;
    const [, words, address] = /^\[(.+)\]\((.+)\)$/.exec(part), link = make("a", "", words);
    Object.assign(link, { href: address, rel: "noreferrer", target: "_blank" });
    return link;
  });
}

function boxOfAnswer(message) {
  const box = make("article", "answer");
  for (const block of message.content ?? []) {
    if (block.type === "text") appendText(box, block.text);
    else if (block.type === "thinking" && block.thinking) box.append(thinking(block.thinking));
    else if (block.type === "toolCall") box.append(call(block.id, block.name, block.arguments));
  }
  if (message.errorMessage) box.append(make("p", "failed", message.errorMessage));
  return box;
}

function thinking(text) {
  const details = make("details", "thinking");
  details.append(make("summary", "", "Thinking"), make("p", "thinking", text));
  return details;
}

function call(id, name, given) {
  const details = make("details"), words = Object.values(given ?? {}).filter((each) => typeof each === "string");
  details.append(make("summary", "", `${name} ${words[0] ?? ""}`.slice(0, 200)));
  if (given && Object.keys(given).length) details.append(make("pre", "", argumentsText(given)));
  details.output = make("pre");
  details.output.hidden = true;
  details.append(details.output);
  calls.set(id, details);
  return details;
}

function argumentsText(given) {
  const text = ([name, value]) => typeof value !== "string" ? `${name}: ${JSON.stringify(value)}` : `${name}:${value.includes("\n") ? "\n" : " "}${value}`;
  return Object.entries(given).map(text).join("\n");
}

function showResult(id, name, result) {
  let box = calls.get(id);
  if (!box) { box = call(id, name); transcript.insertBefore(box, live?.box ?? null); }
  const text = (result.content ?? []).map((each) => each.text ?? `[${each.type}]`).join("\n");
  const diff = result.isError ? null : result.details?.diff;
  if (typeof diff === "string" && diff) { showDiff(box.output, diff); return; }
  box.output.textContent = text.length > 20000 ? `${text.slice(0, 20000)}\n[${text.length - 20000} more characters]` : text;
  box.output.hidden = !text;
  box.classList.toggle("failed", result.isError === true);
}

function showDiff(output, diff) {
  output.replaceChildren(...diff.slice(0, 20000).split("\n").flatMap((line) => {
    const kind = line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span";
    return [make(kind, "", line), "\n"];
  }));
  output.hidden = false;
  if (output.previousElementSibling?.tagName === "PRE") output.previousElementSibling.hidden = true; // the arguments
}

// The message that is being written

function begin(message) {
  live?.box.remove();
  live = { box: boxOfAnswer(message), blocks: new Map(), done: false };
  transcript.append(live.box);
}

function grow(change) {
  if (!live) begin({ content: [] });
  const { type, contentIndex: place } = change;
  if (type === "text_start" || type === "thinking_start") startBlock(place, type);
  else if (type === "text_delta" || type === "thinking_delta") {
    if (!live.blocks.has(place)) startBlock(place, type);
    live.blocks.get(place).append(change.delta);
  } else if (type === "toolcall_end") {
    const { id, name, arguments: given } = change.toolCall;
    live.box.append(call(id, name, given));
  }
}

function startBlock(place, type) {
  const text = make("p");
  if (type.startsWith("thinking")) {
    const box = thinking("");
    box.lastChild.replaceWith(text);
    text.className = "thinking";
    live.box.append(box);
  } else live.box.append(text);
  live.blocks.set(place, text);
}

// What the server sends

const handlers = {
  hello(line) { queued = []; drawTray(); facts(line); refresh(); },
  entries: take,
  agent_start() { working(true); },
  agent_settled() { working(false); refresh(); },
  queue_update({ steering, followUp }) { queued = [...steering, ...followUp]; drawTray(); },
  message_start({ message }) { if (message.role === "assistant") keepingPlace(() => begin(message)); },
  message_update(line) { keepingPlace(() => grow(line.assistantMessageEvent)); },
  message_end({ message }) { if (message.role === "assistant" && live) live.done = true; },
  tool_execution_start(line) { if (!calls.has(line.toolCallId)) showResult(line.toolCallId, line.toolName, {}); },
  tool_execution_update(line) { keepingPlace(() => showResult(line.toolCallId, line.toolName, line.partialResult)); },
  tool_execution_end(line) { keepingPlace(() => showResult(line.toolCallId, line.toolName, line.result)); },
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
  keepingPlace(() => transcript.append(make("article", failed ? "note failed" : "note", text)));
}

function facts({ sessionName, sessionId, model, cwd, isStreaming }) {
  if (sessionId) session = sessionId;
  if (sessionId) $("name").textContent = sessionName || sessionId.slice(0, 8);
  if (cwd) $("facts").dataset.cwd = cwd;
  const name = model ? `${model.provider}/${model.id}` : "";
  if (name) $("facts").dataset.model = name;
  $("facts").textContent = [name, $("facts").dataset.cwd].filter(Boolean).join(" · ");
  document.title = `pi · ${$("name").textContent}`;
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
}

// Dialogs of plugins

const open = []; // the first one is displayed

function asked(request) {
  if (["select", "confirm", "input", "editor"].includes(request.method)) {
    open.push(request);
    if (open.length === 1) display();
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
}

function display() {
  const request = open[0];
  if (!request) return;
  $("title").textContent = request.title ?? "";
  $("message").textContent = request.message ?? "";
  $("message").hidden = !request.message;
  $("confirm").textContent = request.method === "confirm" ? "Yes" : "OK";
  $("dismiss").textContent = request.method === "confirm" ? "No" : "Cancel";
  $("fields").replaceChildren(...fields(request));
  if (!$("dialog").open) $("dialog").showModal();
}

function fields(request) {
  if (request.method === "select") return (request.options ?? []).map((option, number) => {
    const label = make("label"), choice = make("input");
    Object.assign(choice, { type: "radio", name: "choice", value: option, checked: option === request.chosen || (number === 0 && !request.chosen) });
    label.append(choice, option);
    return label;
  });
  if (request.method === "confirm") return [];
  const field = make(request.method === "editor" ? "textarea" : "input");
  field.id = "value";
  field.value = request.prefill ?? "";
  field.placeholder = request.placeholder ?? "";
  if (request.method === "editor") field.rows = 8;
  return [field];
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
  model: () => $("model").click(),
  help: () => ask("get_commands", {}, result(({ commands }) => {
    const names = [...Object.keys(COMMANDS), ...commands.map((each) => each.name)];
    note(`Commands: ${names.map((each) => `/${each}`).join(" ")}`);
  })),
};

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
  $("unqueue").hidden = !queued.length || observes;
  $("queue").replaceChildren(...queued.map((each) => make("li", "", `Queued: ${each.slice(0, 200)}`)));
  $("attached").replaceChildren(...images.map((image) => {
    const item = make("li"), remove = make("button", "plain", "Remove");
    remove.type = "button";
    remove.addEventListener("click", () => { images = images.filter((each) => each !== image); drawTray(); });
    item.append(picture(image), remove);
    return item;
  }));
}

$("attach").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", () => { attach($("files").files); $("files").value = ""; });
text.addEventListener("paste", (event) => { if (event.clipboardData.files.length) { event.preventDefault(); attach(event.clipboardData.files); } });
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); attach(event.dataTransfer.files); });

$("unqueue").addEventListener("click", () => ask("clear_queue", {}, (answer) => {
  if (!answer.success) { note(answer.error, true); return; }
  write([...answer.data.steering, ...answer.data.followUp, text.value].filter(Boolean).join("\n\n"));
}));

// The model

$("model").disabled = observes;
$("model").addEventListener("click", () => ask("get_available_models", {}, (answer) => {
  if (!answer.success) { note(answer.error, true); return; }
  const models = new Map(answer.data.models.map((each) => [`${each.provider}/${each.id}`, each]));
  asked({ method: "select", title: "Model", options: [...models.keys()], chosen: $("facts").dataset.model, then: (name) => {
    const model = models.get(name);
    if (model) ask("set_model", { provider: model.provider, modelId: model.id }, ({ success, error }) => {
      if (success) ask("get_state"); else note(error, true);
    });
  } });
}));

// Search

function filter() {
  const words = $("search").value.toLowerCase();
  for (const box of transcript.children) box.classList.toggle("unmatched", !box.textContent.toLowerCase().includes(words));
}

$("search").addEventListener("input", filter);
$("search").addEventListener("keydown", (event) => { if (event.key === "Escape") { $("search").value = ""; filter(); text.focus(); } });
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, dialog")) return;
  event.preventDefault();
  $("search").focus();
});

text.addEventListener("keydown", (event) => {
  const phone = matchMedia("(pointer: coarse)").matches;
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !phone) {
    event.preventDefault();
    $("prompt").requestSubmit();
  }
});
text.addEventListener("input", fit);

function fit() {
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
}

$("stop").addEventListener("click", () => ask("abort"));
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

$("sessions").addEventListener("toggle", async () => {
  if (!$("sessions").open) return;
  const [served, stored] = await Promise.all(["sessions", "stored"].map(async (name) => {
    const answer = await fetch(name);
    return answer.ok ? answer.json() : [];
  }));
  const known = new Set([session, ...served.map((each) => each.session)]);
  const earlier = stored.filter((each) => !known.has(each.session));
  const entry = ({ title, path }) => choice(title, () => ask("switch_session", { sessionPath: path }));
  $("earlier").replaceChildren(...(observes ? [] : earlier.map(entry)));
  $("earlier").parentElement.hidden = observes || !earlier.length;
  $("list").replaceChildren(...(observes ? [] : [choice("New session", COMMANDS.new)]), ...served.map((each) => {
    const address = isHere ? each.url : each.public; // an address of this computer leads a phone to the phone
    const item = make("li"), link = make(address ? "a" : "span", "", `${each.session.slice(0, 8)} ${each.cwd}`);
    if (address) link.href = address;
    if (each.session === session) link.setAttribute("aria-current", "page");
    item.append(link);
    return item;
  }));
});

// The connection

let socket = null, number = 0, wait = 500;
const answers = new Map();

function send(line) {
  if (socket?.readyState === WebSocket.OPEN) { socket.send(JSON.stringify(line)); return true; }
  note("Not connected; what you wrote was not sent.", true);
  return false;
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
