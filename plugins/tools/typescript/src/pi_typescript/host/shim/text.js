// Text as the model gets it: limits of output, front matter, and a conversation as plain text.
//
// The limits, the wordings and the shapes are those of the original's functions of the same names, because what they
// return is sent to models.

export const DEFAULT_MAX_LINES = 2000;
export const DEFAULT_MAX_BYTES = 50 * 1024;

const GREP_MAX_LINE_LENGTH = 500;
const MOST_OF_A_TOOL_RESULT = 2000;

/** A number of bytes for a person: `1.5KB`. */
export function formatSize(bytes) {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)}MB`;
}

function measured(content, options) {
  const lines = content === "" ? [] : content.split("\n");
  if (lines.length > 0 && content.endsWith("\n")) lines.pop();
  const totalBytes = Buffer.byteLength(content);
  const maxLines = options.maxLines ?? DEFAULT_MAX_LINES;
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  return { lines, totalLines: lines.length, totalBytes, maxLines, maxBytes };
}

function outcome(size, content, truncatedBy, kept, extra = {}) {
  return {
    content,
    truncated: truncatedBy !== null,
    truncatedBy,
    totalLines: size.totalLines,
    totalBytes: size.totalBytes,
    outputLines: kept,
    outputBytes: Buffer.byteLength(content),
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines: size.maxLines,
    maxBytes: size.maxBytes,
    ...extra,
  };
}

/** Keep the beginning: whole lines up to both limits. */
export function truncateHead(content, options = {}) {
  const size = measured(content, options);
  if (size.totalLines <= size.maxLines && size.totalBytes <= size.maxBytes) {
    return outcome(size, content, null, size.totalLines);
  }
  const kept = [];
  let bytes = 0;
  for (const line of size.lines.slice(0, size.maxLines)) {
    const more = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (bytes + more > size.maxBytes) {
      return outcome(size, kept.join("\n"), "bytes", kept.length, { firstLineExceedsLimit: kept.length === 0 });
    }
    bytes += more;
    kept.push(line);
  }
  return outcome(size, kept.join("\n"), kept.length < size.totalLines ? "lines" : "bytes", kept.length);
}

/** Keep the end: whole lines up to both limits, and a part of the last line if that alone is too long. */
export function truncateTail(content, options = {}) {
  const size = measured(content, options);
  if (size.totalLines <= size.maxLines && size.totalBytes <= size.maxBytes) {
    return outcome(size, content, null, size.totalLines);
  }
  const kept = [];
  let bytes = 0;
  for (let index = size.lines.length - 1; index >= 0 && kept.length < size.maxLines; index--) {
    const line = size.lines[index];
    const more = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (bytes + more > size.maxBytes) {
      if (kept.length > 0) return outcome(size, kept.join("\n"), "bytes", kept.length);
      return outcome(size, endOf(line, size.maxBytes), "bytes", 1, { lastLinePartial: true });
    }
    bytes += more;
    kept.unshift(line);
  }
  return outcome(size, kept.join("\n"), kept.length < size.totalLines ? "lines" : "bytes", kept.length);
}

/** The last whole characters of a line that have at most so many bytes. */
function endOf(line, maxBytes) {
  const bytes = Buffer.from(line);
  let start = Math.max(bytes.length - maxBytes, 0);
  while (start < bytes.length && (bytes[start] & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString();
}

/** Cut one line, as in the output of grep. */
export function truncateLine(line, maxChars = GREP_MAX_LINE_LENGTH) {
  if (line.length <= maxChars) return { text: line, wasTruncated: false };
  return { text: `${line.slice(0, maxChars)}... [truncated]`, wasTruncated: true };
}

// Front matter

/** The fields and the text of a Markdown file with front matter: `{frontmatter, body}`. */
export function parseFrontmatter(content) {
  const text = content.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const found = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(text);
  if (!found) return { frontmatter: {}, body: text };
  return { frontmatter: parseYaml(found[1]), body: text.slice(found[0].length).trim() };
}

/** The text of a Markdown file without its front matter. */
export function stripFrontmatter(content) {
  return parseFrontmatter(content).body;
}

/** The part of YAML that front matter uses: scalars, lists, nested mappings by indentation, and blocks of text. */
function parseYaml(source) {
  const lines = source.split("\n").filter((line) => line.trim() !== "" && !/^\s*#/.test(line));
  let at = 0;
  const indentOf = (line) => line.length - line.trimStart().length;

  function block(indent) {
    const isList = /^\s*-(\s|$)/.test(lines[at] ?? "");
    const result = isList ? [] : {};
    while (at < lines.length && indentOf(lines[at]) >= indent) {
      const line = lines[at];
      if (indentOf(line) > indent) throw new Error(`front matter: unexpected indentation in ${JSON.stringify(line)}`);
      if (isList) {
        const item = /^\s*-\s*(.*)$/.exec(line);
        if (!item) break;
        at++;
        result.push(valueOf(item[1], indent));
      } else {
        const pair = /^\s*("[^"]*"|'[^']*'|[^:#][^:]*?)\s*:(?:\s+(.*))?$/.exec(line);
        if (!pair) throw new Error(`front matter: ${JSON.stringify(line)} is not "key: value"`);
        at++;
        result[scalar(pair[1])] = valueOf((pair[2] ?? "").trim(), indent);
      }
    }
    return result;
  }

  function valueOf(text, indent) {
    if (/^[|>][+-]?$/.test(text)) {
      const rows = [];
      while (at < lines.length && indentOf(lines[at]) > indent) rows.push(lines[at++]);
      const margin = Math.min(...rows.map(indentOf));
      const joined = rows.map((row) => row.slice(margin)).join(text[0] === "|" ? "\n" : " ");
      return text.endsWith("-") ? joined : `${joined}\n`;
    }
    if (text !== "") return scalar(text);
    const next = lines[at];
    if (next === undefined) return null;
    const deeper = indentOf(next) > indent || (indentOf(next) === indent && /^\s*-(\s|$)/.test(next));
    return deeper ? block(indentOf(next)) : null;
  }

  return lines.length > 0 ? block(indentOf(lines[0])) : {};
}

function scalar(text) {
  if (text.startsWith('"') && text.endsWith('"') && text.length > 1) return JSON.parse(text);
  if (text.startsWith("'") && text.endsWith("'") && text.length > 1) return text.slice(1, -1).replaceAll("''", "'");
  const plain = text.replace(/\s+#.*$/, "").trim();
  if (plain.startsWith("[") && plain.endsWith("]")) {
    const inside = plain.slice(1, -1).trim();
    return inside === "" ? [] : inside.split(",").map((each) => scalar(each.trim()));
  }
  if (/^[-+]?\d+$/.test(plain) || /^[-+]?\d*\.\d+(e[-+]?\d+)?$/i.test(plain)) return Number(plain);
  if (/^(true|false)$/i.test(plain)) return plain.toLowerCase() === "true";
  if (/^(null|~)?$/i.test(plain)) return null;
  return plain;
}

// Conversations

function texts(content) {
  if (typeof content === "string") return content;
  return content.filter((part) => part.type === "text").map((part) => part.text);
}

function joined(content, separator) {
  const found = texts(content);
  return typeof found === "string" ? found : found.join(separator);
}

/** A conversation as plain text, for a request that summarizes it. */
export function serializeConversation(messages) {
  const parts = [];
  for (const message of messages) {
    if (message.role === "user") {
      const text = joined(message.content, "");
      if (text) parts.push(`[User]: ${text}`);
    } else if (message.role === "assistant") {
      parts.push(...serializedAnswer(message));
    } else if (message.role === "toolResult") {
      const text = joined(message.content, "");
      if (text) parts.push(`[Tool result]: ${shortened(text)}`);
    }
  }
  return parts.join("\n\n");
}

function serializedAnswer(message) {
  const of = (type) => message.content.filter((part) => part.type === type);
  const calls = of("toolCall").map((call) => {
    const values = Object.entries(call.arguments).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    return `${call.name}(${values.join(", ")})`;
  });
  const parts = [
    ["[Assistant thinking]", of("thinking").map((part) => part.thinking).join("\n")],
    ["[Assistant]", of("text").map((part) => part.text).join("\n")],
    ["[Assistant tool calls]", calls.join("; ")],
  ];
  return parts.filter(([, text]) => text).map(([name, text]) => `${name}: ${text}`);
}

function shortened(text) {
  if (text.length <= MOST_OF_A_TOOL_RESULT) return text;
  const rest = text.length - MOST_OF_A_TOOL_RESULT;
  return `${text.slice(0, MOST_OF_A_TOOL_RESULT)}\n\n[... ${rest} more characters truncated]`;
}

/** The text that stands for a command of the user in what the model gets. */
function commandText(message) {
  let text = `Ran \`${message.command}\`\n`;
  text += message.output ? `\`\`\`\n${message.output}\n\`\`\`` : "(no output)";
  if (message.cancelled) text += "\n\n(command cancelled)";
  else if (message.exitCode) text += `\n\nCommand exited with code ${message.exitCode}`;
  if (message.truncated && message.fullOutputPath) {
    text += `\n\n[Output truncated. Full output: ${message.fullOutputPath}]`;
  }
  return text;
}

const BEFORE_COMPACTION = "The conversation history before this point was compacted into the following summary:";
const BEFORE_BRANCH = "The following is a summary of a branch that this conversation came back from:";

/** The messages of a session as messages for a model: those of pi's own kinds become messages of the user. */
export function convertToLlm(messages) {
  return messages.map(forModel).filter((message) => message !== undefined);
}

function forModel(message) {
  const user = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: message.timestamp });
  switch (message.role) {
    case "bashExecution":
      return message.excludeFromContext ? undefined : user(commandText(message));
    case "custom":
      if (typeof message.content === "string") return user(message.content);
      return { role: "user", content: message.content, timestamp: message.timestamp };
    case "branchSummary":
      return user(`${BEFORE_BRANCH}\n\n<summary>\n${message.summary}</summary>`);
    case "compactionSummary":
      return user(`${BEFORE_COMPACTION}\n\n<summary>\n${message.summary}\n</summary>`);
    case "system":
    case "user":
    case "assistant":
    case "toolResult":
      return message;
    default:
      return undefined;
  }
}
