// Which module an extension gets for a package of the original that it imports.
//
// `pi-coding-agent` is a module of this pi, and the real package only for names that ours lacks; the others are the
// real packages from the folder of packages of pi.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importedNames } from "./imports.js";
import { narrowed } from "./narrow.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const SCOPES = ["@earendil-works", "@mariozechner"];
const REAL_AGENT = "@earendil-works/pi-coding-agent";

/** Names that need `pi-coding-agent-screen.js`. */
const SCREEN = new Set(["BorderedLoader", "CustomEditor", "DynamicBorder", "keyHint", "keyText", "rawKeyHint", "truncateToVisualLines"]);

/** All specifiers that are resolved here, for aliases. */
export const names = [
  ...SCOPES.flatMap((scope) => ["pi-coding-agent", "pi-tui", "pi-ai", "pi-ai/compat", "pi-ai/oauth", "pi-agent-core"].map((name) => `${scope}/${name}`)),
  "@sinclair/typebox",
  "@sinclair/typebox/compile",
  "@sinclair/typebox/compiler",
  "@sinclair/typebox/value",
  "typebox",
  "typebox/compile",
  "typebox/value",
];

const RENAMED = [
  [/^@mariozechner\//, "@earendil-works/"],
  [/^@sinclair\/typebox/, "typebox"],
  [/^typebox\/compiler$/, "typebox/compile"],
];
const OURS = /^(?:@(?:earendil-works|mariozechner)\/pi-(?:coding-agent|tui|ai|agent-core)|(?:@sinclair\/)?typebox)(?:\/|$)/;

/**
 * Returns the file, or the `data:` URL, of the module for a specifier; undefined for all but the original's packages.
 *
 * @param {string} specifier what is imported
 * @param {string | null | undefined} packages a folder with `node_modules`
 * @param {{file: string, source: string}} [parent] what imports it, its text without types; without it, the module has
 *   all that ours has
 * @throws {Error} with a sentence: the package or a name is not there; with `file`, `line` and `missing`
 */
export function resolveShim(specifier, packages, parent) {
  if (!OURS.test(specifier)) return undefined;
  const real = RENAMED.reduce((name, [before, after]) => name.replace(before, after), specifier);
  if (real === REAL_AGENT) return standIn(specifier, packages, parent);
  const file = found(real, packages);
  if (file !== undefined) return (NARROWED.has(real) && smaller(file, specifier, packages, parent)) || file;
  if (real.startsWith(`${REAL_AGENT}/`)) {
    throw failure(specifier, parent, `it imports ${specifier}, an internal file of the original, which this pi does not have`);
  }
  throw failure(specifier, parent, `it imports ${specifier}, and the package ${packageOf(real)} is not installed: run pi install --typescript`);
}

/** Packages whose index loads far more than most imports need. */
const NARROWED = new Set(["@earendil-works/pi-ai", "@earendil-works/pi-tui"]);

/** A module with the names that a file imports; undefined if it takes all of the package, or that is not known. */
function smaller(file, specifier, packages, parent) {
  const wanted = parent === undefined ? undefined : importedNames(parent.source, specifier);
  if (wanted === undefined || wanted.has("*")) return undefined;
  return narrowed(file, wanted.keys(), (name) => found(name, packages));
}

/** The module for `pi-coding-agent`: with the names that a file imports, and no more than these need. */
function standIn(specifier, packages, parent) {
  const hasTui = found("@earendil-works/pi-tui", packages) !== undefined;
  const wanted = parent === undefined ? new Map([["*", 1]]) : importedNames(parent.source, specifier);
  const needsScreen = [...wanted.keys()].find((name) => SCREEN.has(name));
  if (needsScreen && !hasTui) {
    throw failure(specifier, parent, `it imports ${needsScreen}, which needs the package @earendil-works/pi-tui, and that is not installed: run pi install --typescript`, needsScreen);
  }
  const own = join(HERE, needsScreen || (wanted.has("*") && hasTui) ? "pi-coding-agent-screen.js" : "pi-coding-agent.js");
  const lacking = [...wanted.keys()].filter((name) => name !== "*" && !SCREEN.has(name) && !ownNames().has(name));
  if (lacking.length === 0) return own;
  const agent = found(REAL_AGENT, packages);
  if (agent === undefined) {
    throw failure(specifier, parent, `it imports ${lacking[0]} from ${specifier}, which this pi does not have; the package ${REAL_AGENT} itself, installed in ${packages ?? "the folder of packages"}, provides it`, lacking[0]);
  }
  const source = `export * from ${JSON.stringify(pathToFileURL(own).href)}; export { ${lacking.join(", ")} } from ${JSON.stringify(pathToFileURL(agent).href)};`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

let known;

/** The names that `pi-coding-agent.js` exports, read from its text: it is not loaded for this. */
function ownNames() {
  if (known === undefined) {
    const text = readFileSync(join(HERE, "pi-coding-agent.js"), "utf8");
    const listed = [...text.matchAll(/export \{([^}]*)\}/g)].flatMap(([, list]) => list.split(","));
    const declared = [...text.matchAll(/export (?:async )?(?:const|function|class) (\w+)/g)].map(([, name]) => name);
    known = new Set([...listed.map((each) => each.trim().split(" as ").pop()), ...declared].filter(Boolean));
  }
  return known;
}

/** The file of a package, or of a path in it, that an import gets; undefined if it is not there. */
function found(name, packages) {
  if (!packages) return undefined;
  const folder = join(packages, "node_modules", packageOf(name));
  if (!existsSync(folder)) return undefined;
  return exported(name, folder);
}

/** The file that a package exports for `import`; `require.resolve` would choose the one for `require`. */
function exported(name, folder) {
  const { exports, main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const key = `.${name.slice(packageOf(name).length)}`;
  if (exports === undefined) return key === "." ? join(folder, main ?? "index.js") : undefined;
  const isRoot = typeof exports === "string" || !Object.keys(exports).some((each) => each.startsWith("."));
  const file = isRoot ? (key === "." ? fileOf(exports) : undefined) : (fileOf(exports[key]) ?? byPattern(exports, key));
  return file === undefined ? undefined : join(folder, file);
}

function fileOf(target) {
  if (target === undefined || target === null || typeof target === "string") return target ?? undefined;
  return fileOf(target.import ?? target.node ?? target.default);
}

function byPattern(exports, key) {
  for (const [pattern, target] of Object.entries(exports)) {
    const [head, tail] = pattern.split("*");
    if (tail === undefined || !key.startsWith(head) || !key.endsWith(tail)) continue;
    return fileOf(target)?.replaceAll("*", key.slice(head.length, key.length - tail.length));
  }
  return undefined;
}

function packageOf(name) {
  return name.split("/").slice(0, name.startsWith("@") ? 2 : 1).join("/");
}

function failure(specifier, parent, message, name) {
  const error = new Error(message);
  error.missing = name ?? specifier;
  if (parent !== undefined) {
    error.file = parent.file;
    const lines = importedNames(parent.source, specifier);
    error.line = lines.get(name) ?? lines.values().next().value;
  }
  return error;
}
