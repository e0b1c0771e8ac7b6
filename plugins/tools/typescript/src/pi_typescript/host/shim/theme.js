// Themes: escape sequences for the colours of pi's theme, and the styles of the original's components made from them.
//
// Colours come from pi with the state of the session.

import { readFileSync } from "node:fs";
import { value } from "../mirror.js";

const BACKGROUNDS = new Set([
  "selectedBg", "searchMatchBg", "userMessageBg", "customMessageBg", "toolPendingBg", "toolSuccessBg", "toolErrorBg",
]);
const SUBSTITUTES = { scrollbarTrack: "borderMuted", scrollbarThumb: "border", thinkingMax: "thinkingXhigh", searchMatchText: "text", searchMatchBg: "selectedBg" };
const COLORS = /^(truecolor|24bit)$/.test(process.env.COLORTERM ?? "") ? "truecolor" : "256color";
const CUBE = [0, 95, 135, 175, 215, 255];

/** The parameters of the escape sequence for a colour: `#rrggbb`, an index, or empty for the terminal's own. */
function parameters(value, layer, mode) {
  if (value === undefined || value === "") return String(layer + 9);
  if (typeof value === "number") return `${layer + 8};5;${value}`;
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(value);
  if (!found) return String(layer + 9);
  const rgb = found.slice(1).map((part) => Number.parseInt(part, 16));
  if (mode === "truecolor") return `${layer + 8};2;${rgb.join(";")}`;
  return `${layer + 8};5;${nearestIndex(rgb)}`;
}

/** The index of the palette of 256 colours that is nearest to a colour. */
function nearestIndex(rgb) {
  const nearest = rgb.map((part) => CUBE.reduce((best, each, at) => (Math.abs(each - part) < Math.abs(CUBE[best] - part) ? at : best), 0));
  const grey = Math.min(Math.max(Math.round((rgb.reduce((sum, part) => sum + part, 0) / 3 - 8) / 10), 0), 23);
  const distance = (other) => other.reduce((sum, part, at) => sum + (part - rgb[at]) ** 2, 0);
  const spread = Math.max(...rgb) - Math.min(...rgb);
  const isGrey = spread < 10 && distance([0, 0, 0].fill(8 + 10 * grey)) < distance(nearest.map((at) => CUBE[at]));
  return isGrey ? 232 + grey : 16 + 36 * nearest[0] + 6 * nearest[1] + nearest[2];
}

/** The colours and attributes with which extensions style text. */
export class Theme {
  #foregrounds;
  #backgrounds;
  #mode;

  constructor(foregrounds, backgrounds, mode, options = {}) {
    this.name = options.name;
    this.sourcePath = options.sourcePath;
    this.sourceInfo = options.sourceInfo;
    this.#foregrounds = foregrounds;
    this.#backgrounds = backgrounds;
    this.#mode = mode;
  }

  fg(color, text) {
    return `${this.getFgAnsi(color)}${text}\x1b[39m`;
  }

  bg(color, text) {
    return `${this.getBgAnsi(color)}${text}\x1b[49m`;
  }

  bold(text) {
    return `\x1b[1m${text}\x1b[22m`;
  }

  italic(text) {
    return `\x1b[3m${text}\x1b[23m`;
  }

  underline(text) {
    return `\x1b[4m${text}\x1b[24m`;
  }

  inverse(text) {
    return `\x1b[7m${text}\x1b[27m`;
  }

  strikethrough(text) {
    return `\x1b[9m${text}\x1b[29m`;
  }

  getFgAnsi(color) {
    return `\x1b[${parameters(this.#of(this.#foregrounds, color, "colour"), 30, this.#mode)}m`;
  }

  getBgAnsi(color) {
    return `\x1b[${parameters(this.#of(this.#backgrounds, color, "background colour"), 40, this.#mode)}m`;
  }

  getColorMode() {
    return this.#mode;
  }

  getThinkingBorderColor(level) {
    const name = `thinking${level.charAt(0).toUpperCase()}${level.slice(1)}`;
    return (text) => this.fg(name in this.#foregrounds || name in SUBSTITUTES ? name : "thinkingOff", text);
  }

  getBashModeBorderColor() {
    return (text) => this.fg("bashMode", text);
  }

  #of(colors, name, kind) {
    if (name in colors) return colors[name];
    const substitute = SUBSTITUTES[name];
    if (substitute !== undefined && substitute in colors) return colors[substitute];
    throw new Error(`Unknown theme ${kind}: ${name}`);
  }
}

/** A theme from pi's: `{name, colors, vars, mode}`. */
export function themeFrom(state) {
  const { colors = {}, vars = {} } = state ?? {};
  const resolved = (each) => (typeof each === "string" && each in vars ? resolved(vars[each]) : each);
  const part = (wanted) => Object.fromEntries(Object.entries(colors).filter(([role]) => BACKGROUNDS.has(role) === wanted).map(([role, each]) => [role, resolved(each)]));
  return new Theme(part(false), part(true), state?.mode ?? COLORS, { name: state?.name });
}

let known;
let current;

/** The colours where pi shows none: text with them goes to a program, which gets what the original would send. */
function usual() {
  return JSON.parse(readFileSync(new URL("./colors.json", import.meta.url), "utf8"));
}

/** The theme that is displayed now. */
export function currentTheme() {
  const state = value("theme");
  if (current === undefined || state !== known) {
    known = state;
    current = themeFrom(state?.colors && Object.keys(state.colors).length > 0 ? state : { name: "dark", colors: usual() });
  }
  return current;
}

/** A theme whose methods always use the theme that is displayed now, for code that keeps it. */
export const theme = new Proxy(Object.create(Theme.prototype), {
  get(_target, name) {
    const now = currentTheme();
    const value = Reflect.get(now, name, now);
    return typeof value === "function" ? value.bind(now) : value;
  },
});

const fg = (role) => (text) => currentTheme().fg(role, text);

/** Styles of pi-tui's Markdown. */
export function getMarkdownTheme() {
  const heads = { heading: "mdHeading", link: "mdLink", linkUrl: "mdLinkUrl", code: "mdCode", codeBlock: "mdCodeBlock", codeBlockBorder: "mdCodeBlockBorder", quote: "mdQuote", quoteBorder: "mdQuoteBorder", hr: "mdHr", listBullet: "mdListBullet" };
  return {
    ...Object.fromEntries(Object.entries(heads).map(([name, role]) => [name, fg(role)])),
    bold: (text) => currentTheme().bold(text),
    italic: (text) => currentTheme().italic(text),
    underline: (text) => currentTheme().underline(text),
    strikethrough: (text) => currentTheme().strikethrough(text),
    highlightCode,
  };
}

/** Styles of pi-tui's SelectList. */
export function getSelectListTheme() {
  return { selectedPrefix: fg("accent"), selectedText: fg("accent"), description: fg("muted"), scrollInfo: fg("muted"), noMatch: fg("muted") };
}

/** Styles of pi-tui's SettingsList. */
export function getSettingsListTheme() {
  return {
    label: (text, selected) => (selected ? fg("accent")(text) : text),
    value: (text, selected) => fg(selected ? "accent" : "muted")(text),
    description: fg("dim"),
    cursor: fg("accent")("→ "),
    hint: fg("dim"),
  };
}

/** Styles of pi-tui's Editor. */
export function getEditorTheme() {
  return { borderColor: fg("borderMuted"), selectList: getSelectListTheme() };
}

/** Code as lines in the colour of code blocks; the host has no highlighter of languages. */
export function highlightCode(code) {
  return code.split("\n").map(fg("mdCodeBlock"));
}

const LANGUAGES = {
  bash: "sh bash zsh", c: "c h", cpp: "cc cpp cxx hpp hh", csharp: "cs", css: "css", dart: "dart", elixir: "ex exs", go: "go", graphql: "graphql gql", haskell: "hs", html: "html htm", java: "java", javascript: "js jsx mjs cjs", json: "json", kotlin: "kt kts", less: "less", lua: "lua", markdown: "md markdown", perl: "pl pm", php: "php", powershell: "ps1", protobuf: "proto", python: "py", r: "r", ruby: "rb", rust: "rs", sass: "sass", scala: "scala", scss: "scss", sql: "sql", swift: "swift", terraform: "tf", toml: "toml", typescript: "ts tsx mts cts", vim: "vim", xml: "xml svg", yaml: "yaml yml",
};
const BY_SUFFIX = new Map(Object.entries(LANGUAGES).flatMap(([name, suffixes]) => suffixes.split(" ").map((suffix) => [suffix, name])));

/** The language of a file by its name, as highlighters name it; undefined if that is not known. */
export function getLanguageFromPath(path) {
  const name = path.split(/[\\/]/).pop().toLowerCase();
  if (name === "makefile" || name === "dockerfile") return name;
  return BY_SUFFIX.get(name.includes(".") ? name.split(".").pop() : name);
}

/** Colours come from pi; there is nothing to initialize. */
export function initTheme() {}
