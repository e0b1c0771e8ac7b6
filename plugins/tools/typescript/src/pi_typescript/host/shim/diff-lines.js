// A difference with the colours of the theme: removed and added lines, and what differs within a changed line.

import { currentTheme } from "./theme.js";

const ROLES = { "-": "toolDiffRemoved", "+": "toolDiffAdded" };

/** The lines of a difference as `edit` reports it (`-12 text`), in colour. */
export function renderDiff(diffText) {
  const rows = diffText.split("\n");
  const theme = currentTheme();
  return rows
    .map((row, at) => {
      const role = ROLES[row[0]];
      if (role === undefined) return theme.fg("toolDiffContext", row);
      const other = partnerOf(rows, at);
      return theme.fg(role, other === undefined ? row : marked(row, other, theme));
    })
    .join("\n");
}

/** The row that a single changed line is compared with: one removed line next to one added line. */
function partnerOf(rows, at) {
  const [sign, step] = rows[at][0] === "-" ? ["+", 1] : ["-", -1];
  const partner = rows[at + step];
  const alone = rows[at - step]?.[0] !== rows[at][0] && rows[at + 2 * step]?.[0] !== sign;
  return partner?.[0] === sign && alone ? partner : undefined;
}

/** A row with the words reversed that differ from the other row. */
function marked(row, other, theme) {
  const [, head, text] = /^([-+]\s*\d* ?)(.*)$/s.exec(row);
  const words = text.split(/(\s+)/);
  const others = /^[-+]\s*\d* ?(.*)$/s.exec(other)[1].split(/(\s+)/);
  let start = 0;
  while (start < words.length && start < others.length && words[start] === others[start]) start++;
  let end = 0;
  while (end < words.length - start && end < others.length - start && words.at(-1 - end) === others.at(-1 - end)) end++;
  const middle = words.slice(start, words.length - end).join("");
  if (middle.trim() === "") return row;
  return head + words.slice(0, start).join("") + theme.inverse(middle) + words.slice(words.length - end).join("");
}
