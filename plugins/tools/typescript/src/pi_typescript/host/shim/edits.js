// Exact replacements in a text, and the difference that they make.

const CONTEXT = 4;

/** A text without its byte order mark, and that mark. */
export function withoutBom(text) {
  return text.startsWith("\ufeff") ? { bom: "\ufeff", text: text.slice(1) } : { bom: "", text };
}

const withLf = (text) => text.replace(/\r\n?/g, "\n");

/**
 * Replaces each `oldText`, which must occur once in the original text, and none of which may overlap.
 *
 * @returns {{text: string, diff: string, patch: string, firstChangedLine: number}}
 */
export function editedText(path, original, edits) {
  const ending = /\r\n|\n/.exec(original)?.[0] ?? "\n";
  const before = withLf(original);
  const places = edits.map((edit, number) => placeOf(path, before, edit, number, edits.length));
  places.sort((one, other) => one.start - other.start);
  for (let at = 1; at < places.length; at++) {
    if (places[at].start < places[at - 1].end) {
      const names = [places[at - 1].number, places[at].number].sort().map((each) => `edits[${each}]`).join(" and ");
      throw new Error(`${names} overlap in ${path}. Merge them into one edit or target disjoint regions.`);
    }
  }
  let after = "";
  let done = 0;
  for (const { start, end, newText } of places) {
    after += before.slice(done, start) + newText;
    done = end;
  }
  after += before.slice(done);
  if (after === before) {
    throw new Error(
      `No changes made to ${path}. The replacement produced identical content. This might indicate an issue with special` +
        " characters or the text not existing as expected.",
    );
  }
  return { text: ending === "\r\n" ? after.replaceAll("\n", "\r\n") : after, ...difference(path, before, after) };
}

function placeOf(path, text, edit, number, count) {
  const oldText = withLf(edit.oldText);
  const one = count === 1;
  const name = one ? "oldText" : `edits[${number}].oldText`;
  if (oldText === "") throw new Error(`${name} must not be empty in ${path}.`);
  const start = text.indexOf(oldText);
  if (start < 0) {
    throw new Error(
      one
        ? `Could not find the exact text in ${path}. The old text must match exactly including all whitespace and newlines.`
        : `Could not find edits[${number}] in ${path}. The oldText must match exactly including all whitespace and newlines.`,
    );
  }
  const found = text.split(oldText).length - 1;
  if (found > 1) {
    throw new Error(
      one
        ? `Found ${found} occurrences of the text in ${path}. The text must be unique. Please provide more context to make it unique.`
        : `Found ${found} occurrences of edits[${number}] in ${path}. Each oldText must be unique. Please provide more context to make it unique.`,
    );
  }
  return { start, end: start + oldText.length, newText: withLf(edit.newText), number };
}

/** What differs between two texts, for the screen (`diff`) and as a unified patch. */
export function difference(path, before, after) {
  const steps = lineSteps(linesOf(before), linesOf(after));
  const first = steps.find((step) => step.kind !== " ");
  return { diff: numbered(steps), patch: unified(path, steps), firstChangedLine: first?.newLine };
}

function linesOf(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The lines of both texts in order, each kept, removed or added; a longest common subsequence of what differs. */
function lineSteps(old, now) {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const [from, to] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const kinds = [...Array(head).fill(" "), ...middle(from, to), ...Array(tail).fill(" ")];
  let [oldLine, newLine] = [1, 1];
  return kinds.map((kind) => {
    const step = { kind, oldLine, newLine, text: kind === "+" ? now[newLine - 1] : old[oldLine - 1] };
    if (kind !== "+") oldLine++;
    if (kind !== "-") newLine++;
    return step;
  });
}

function middle(from, to) {
  if (from.length * to.length > 4_000_000) return [...from.map(() => "-"), ...to.map(() => "+")];
  const length = Array.from({ length: from.length + 1 }, () => new Uint32Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      length[i][j] = from[i] === to[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const kinds = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      kinds.push(" ");
      i++;
      j++;
    } else if (i < from.length && (j === to.length || length[i + 1][j] >= length[i][j + 1])) {
      kinds.push("-");
      i++;
    } else {
      kinds.push("+");
      j++;
    }
  }
  return kinds;
}

/** Runs of changes, each with so many unchanged lines around it. */
function hunks(steps, context) {
  const kept = new Set();
  steps.forEach((step, at) => {
    if (step.kind !== " ") for (let near = at - context; near <= at + context; near++) kept.add(near);
  });
  const found = [];
  steps.forEach((step, at) => {
    if (!kept.has(at)) return;
    if (!kept.has(at - 1)) found.push([]);
    found.at(-1).push(step);
  });
  return found;
}

function numbered(steps) {
  const most = Math.max(...steps.map((step) => Math.max(step.oldLine, step.newLine)), 1);
  const wide = String(most).length;
  const rows = [];
  let next = steps[0];
  for (const hunk of hunks(steps, CONTEXT)) {
    if (hunk[0] !== next) rows.push(` ${"".padStart(wide)} ...`);
    for (const step of hunk) {
      const line = step.kind === "+" ? step.newLine : step.oldLine;
      rows.push(`${step.kind}${String(line).padStart(wide)} ${step.text}`);
    }
    next = steps[steps.indexOf(hunk.at(-1)) + 1];
  }
  if (next !== undefined) rows.push(` ${"".padStart(wide)} ...`);
  return rows.join("\n");
}

function unified(path, steps) {
  const rows = [`--- ${path}`, `+++ ${path}`];
  for (const hunk of hunks(steps, CONTEXT)) {
    const old = hunk.filter((step) => step.kind !== "+").length;
    const now = hunk.filter((step) => step.kind !== "-").length;
    rows.push(`@@ -${hunk[0].oldLine},${old} +${hunk[0].newLine},${now} @@`, ...hunk.map((step) => step.kind + step.text));
  }
  return `${rows.join("\n")}\n`;
}
