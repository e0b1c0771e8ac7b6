// Loads files of extensions: TypeScript without a compiler's output, CommonJS oddities, and the packages of pi that they
// import. Node strips types itself from 22.15 on; older ones, and syntax that is more than types, go through jiti.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import * as nodeModule from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { elideImports } from "./shim/imports.js";
import { names, resolveShim } from "./shim/index.js";

const ENDINGS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".json"];
/** An import of another file or package than pi's: an older Node does not report which files are loaded. */
const IMPORTS_FILES = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](?!node:|@earendil-works\/|@mariozechner\/)/;
const TYPED = /\.([mc]?ts|tsx)$/;
/** How often each extension was loaded: a module is run once for each address. */
const rounds = new Map();
const loadedSources = new Map();
/** The files that were loaded with each extension, by its own file. */
const loadedWith = new Map();
let loading;
/** What is loaded, without types: the imports that it really has. */
const plainSources = new Map();
let packages;
let cacheFolder;
let jiti;

/** Prepares loading. `packagesFolder` has node_modules of pi's own, `cache` is where compiled files may be kept. */
export function begin(packagesFolder, cache) {
  packages = packagesFolder ?? undefined;
  cacheFolder = cache;
  if (isNative()) nodeModule.registerHooks({ resolve: resolveHook, load: loadHook });
}

/** Whether this Node can load TypeScript by itself. */
export function isNative() {
  return typeof nodeModule.registerHooks === "function" && typeof nodeModule.stripTypeScriptTypes === "function";
}

/** Returns the function that an extension's file exports. */
export async function loadFactory(file) {
  loading = loadedWith.get(file) ?? new Set();
  loadedWith.set(file, loading);
  try {
    keepSource(file);
    return factoryOf(await importExtension(file));
  } finally {
    loading = undefined;
  }
}

/** Imports a package of pi's own for this process, also where Node has no hooks for the names of packages. */
export function importPackage(name) {
  return import(pathToFileURL(resolveShim(name, packages)).href);
}

async function importExtension(file) {
  const round = rounds.get(file) ?? 0;
  rounds.set(file, round + 1);
  const url = `${pathToFileURL(file).href}${round ? `?round=${round}` : ""}`;
  if (!isNative()) return loadWithJiti(file, url);
  try {
    return await import(url);
  } catch (error) {
    if (!needsJiti(error)) throw error;
    return loadWithJiti(file, url, error);
  }
}

function factoryOf(exported) {
  let factory = exported;
  for (let depth = 0; depth < 3 && factory && typeof factory !== "function"; depth++) factory = factory.default;
  if (typeof factory !== "function") {
    throw new Error("it does not export a function as its default: export default function (pi) { ... }");
  }
  return factory;
}

/** Whether the source of an extension, or of another file that it loads, contains a word; true if that is not known. */
export function mentions(extension, word) {
  if (!isNative() && IMPORTS_FILES.test(loadedSources.get(extension.file) ?? "")) return true;
  return filesOf(extension).some((file) => loadedSources.get(file).includes(word));
}

/** Returns the files that were loaded with an extension, or are below its folder. */
export function filesOf({ file: own, folder }) {
  const others = loadedWith.get(own);
  return [...loadedSources.keys()].filter((file) => file.startsWith(`${folder}/`) || others?.has(file)).sort();
}

/** Remembers a source for `mentions`. */
export function keepSource(file) {
  loading?.add(file);
  if (!loadedSources.has(file)) loadedSources.set(file, readFileSync(file, "utf8"));
  return loadedSources.get(file);
}

function needsJiti(error) {
  return error?.code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" || error?.code === "ERR_INVALID_TYPESCRIPT_SYNTAX";
}

async function loadWithJiti(file, url, cause) {
  // Node runs JavaScript itself, but without hooks it does not find what stands in for the original.
  const isForNode = isNative() ? file.endsWith(".mjs") : /\.m?js$/.test(file) && !importsOurs(file);
  if (isForNode) return import(url);
  keepSource(file);
  jiti ??= makeJiti(cause);
  return (await jiti).import(file);
}

function importsOurs(file) {
  const source = keepSource(file);
  return names.some((name) => source.includes(name)) || !/^\s*(import|export)\s/m.test(source);
}

async function makeJiti(cause) {
  let path;
  try {
    path = createRequire(join(packages, "package.json")).resolve("jiti");
  } catch {
    if (cause?.code === "ERR_INVALID_TYPESCRIPT_SYNTAX") throw cause; // no language that jiti knows
    const why = cause
      ? `${cause.message}. Node cannot run this syntax itself, and the package jiti, which can, is not installed`
      : `Node ${process.version} cannot run TypeScript, and the package jiti, which can, is not installed`;
    throw new Error(`${why}. Install Node 22.18 or newer, or run: pi install --typescript`);
  }
  const { createJiti } = await import(pathToFileURL(path).href);
  const alias = {};
  for (const name of names) {
    try {
      alias[name] = resolveShim(name, packages);
    } catch {
      // Left out: an extension that imports it gets the error of a missing module.
    }
  }
  return createJiti(import.meta.url, { alias, moduleCache: false, fsCache: join(cacheFolder, "jiti"), tryNative: false });
}

function resolveHook(specifier, context, next) {
  const parent = context.parentURL?.startsWith("file:") ? fileURLToPath(context.parentURL) : undefined;
  const isInPackages = packages !== undefined && parent?.startsWith(`${packages}/`);
  if (!isInPackages) {
    const source = parent === undefined ? undefined : plainSources.get(parent);
    const found = resolveShim(specifier, packages, source === undefined ? undefined : { file: parent, source });
    if (found !== undefined) return next(found.startsWith("data:") ? found : pathToFileURL(found).href, context);
  }
  try {
    return sameRound(next(specifier, context), context.parentURL);
  } catch (error) {
    if (isBuiltin(specifier) || parent === undefined || !/^(\.|\/|file:)/.test(specifier)) throw error;
    const found = guess(specifier.startsWith("file:") ? fileURLToPath(specifier) : join(dirname(parent), specifier));
    if (found === undefined) throw error;
    return sameRound(next(pathToFileURL(found).href, context), context.parentURL);
  }
}

/** Loads the other files of an extension as often as the extension itself. */
function sameRound(resolved, parentURL) {
  const round = /\?round=\d+$/.exec(parentURL ?? "")?.[0];
  if (!round || !resolved.url.startsWith("file:") || resolved.url.includes("/node_modules/")) return resolved;
  return { ...resolved, url: resolved.url.replace(/\?.*|$/, round) };
}

/** Returns the file that is meant by a path without its ending, with that of the compiled file, or of a folder. */
function guess(path) {
  const bare = /\.[mc]?jsx?$/.test(path) ? path.slice(0, -extname(path).length) : path;
  const candidates = [...ENDINGS.map((each) => bare + each), ...ENDINGS.map((each) => join(path, `index${each}`))];
  return candidates.find((each) => existsSync(each) && statSync(each).isFile());
}

function loadHook(url, context, next) {
  if (!url.startsWith("file:")) return next(url, context);
  const file = fileURLToPath(url);
  if (url.includes("/node_modules/") && !TYPED.test(file)) return next(url, context);
  if (file.endsWith(".json") && context.importAttributes?.type === undefined && context.format !== "commonjs") {
    return { format: "module", source: `export default ${readFileSync(file, "utf8")}`, shortCircuit: true };
  }
  const isTyped = TYPED.test(file);
  if (!isTyped && !/\.m?js$/.test(file)) return next(url, context);
  if (file.startsWith(import.meta.dirname)) return next(url, context);
  const source = keepSource(file);
  const plain = isTyped ? elideImports(strip(source, url)) : source;
  plainSources.set(file, plain);
  if (!isModule(file, source)) return { format: "commonjs", source: plain, shortCircuit: true };
  return { format: "module", source: withCommonNames(plain), shortCircuit: true };
}

function isModule(file, source) {
  if (/\.c[tj]s$/.test(file)) return false;
  return /\.m[tj]s$/.test(file) || /^\s*(import|export)\b/m.test(source) || !/\bmodule\.exports\b|\bexports\.\w/.test(source);
}

/** Returns a source without its types; kept on disk, because Node's own way takes 40 ms and 20 MB to begin with. */
function strip(source, url) {
  const hash = createHash("sha256").update(`${process.version}\n${source}`).digest("hex").slice(0, 32);
  const folder = join(cacheFolder, "typescript");
  const file = join(folder, `${hash}.js`);
  try {
    return readFileSync(file, "utf8");
  } catch {
    const stripped = strippedByNode(source, url);
    keep(folder, file, stripped);
    return stripped;
  }
}

function keep(folder, file, text) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // The next start strips it again.
  }
}

function strippedByNode(source, url) {
  try {
    return nodeModule.stripTypeScriptTypes(source, { mode: "strip", sourceUrl: url });
  } catch (error) {
    if (!needsJiti(error)) throw error;
    try {
      return nodeModule.stripTypeScriptTypes(source, { mode: "transform", sourceMap: true, sourceUrl: url });
    } catch {
      throw error;
    }
  }
}

/** Gives a module the names that exist in CommonJS, on its first line so that positions stay. */
function withCommonNames(source) {
  const wanted = ["require", "__dirname", "__filename"].filter(
    (name) => new RegExp(`\\b${name}\\b`).test(source) && !new RegExp(`\\b(const|let|var|function)\\s+${name}\\b`).test(source),
  );
  if (wanted.length === 0) return source;
  const values = {
    require: "piCreateRequire(import.meta.url)",
    __dirname: "import.meta.dirname",
    __filename: "import.meta.filename",
  };
  const prefix = wanted.map((name) => `const ${name} = ${values[name]};`).join(" ");
  return `import { createRequire as piCreateRequire } from "node:module"; ${prefix} ${source}`;
}
