// Loads only those modules of a package that an import needs: the index of pi-ai loads every provider's library, which
// takes more than a second and 100 MB, and most extensions import a schema builder from it.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const texts = new Map();

/**
 * Returns the `data:` URL of a module with some names of a package; undefined if the index itself has to be loaded.
 *
 * @param {string} index the file of the package's index, which only exports what other modules have
 * @param {Iterable<string>} wanted the names
 * @param {(specifier: string) => string | undefined} find returns the file of another package
 */
export function narrowed(index, wanted, find) {
  const byModule = new Map();
  for (const name of wanted) {
    const file = homeOf(index, name, find);
    if (file === undefined) return undefined;
    byModule.set(file, [...(byModule.get(file) ?? []), name]);
  }
  if (byModule.size === 0) return undefined;
  const lines = [...byModule].map(
    ([file, names]) => `export { ${names.join(", ")} } from ${JSON.stringify(pathToFileURL(file).href)};`,
  );
  return `data:text/javascript,${encodeURIComponent(lines.join(" "))}`;
}

/** Returns the module that has a name; undefined if it is not clear from the text of the index. */
function homeOf(index, name, find) {
  const text = textOf(index);
  for (const [, list, from] of text.matchAll(/export \{([^}]*)\} from "([^"]+)"/g)) {
    if (list.split(",").some((each) => each.trim() === name)) return fileOf(index, from, find);
  }
  const declared = new RegExp(`export (?:async )?(?:const|function\\*?|class) ${name}\\b`);
  const listed = new RegExp(`export \\{[^}]*(?<![\\w$])${name}(?![\\w$])[^}]*\\}`);
  for (const [, from] of text.matchAll(/export \* from "(\.[^"]+)"/g)) {
    const file = fileOf(index, from, find);
    if (file !== undefined && (declared.test(textOf(file)) || listed.test(textOf(file)))) return file;
  }
  return undefined;
}

function fileOf(index, from, find) {
  const file = from.startsWith(".") ? join(dirname(index), from) : find(from);
  return file !== undefined && existsSync(file) ? file : undefined;
}

function textOf(file) {
  if (!texts.has(file)) texts.set(file, readFileSync(file, "utf8"));
  return texts.get(file);
}
