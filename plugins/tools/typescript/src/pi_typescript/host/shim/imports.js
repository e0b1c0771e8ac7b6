// The imports of a module, read from its text: which names it takes from a package, and which of these it uses.

/** Static imports and re-exports: the words before `from`, and the specifier. */
const STATEMENT = /(?:^|(?<=[;\n}]))[ \t]*(import|export)\s+(type\s+)?([^;"'()=]*?)\s*from\s*(["'])([^"'\n]+)\4/gm;

/**
 * Blanks the names in imports that a module does not use, in text whose types are stripped: what is left of them were
 * types. All other text stays where it is.
 */
export function elideImports(source) {
  return source.replace(STATEMENT, (statement, keyword, _type, clause) => {
    const braces = /\{([\s\S]*)\}/.exec(clause);
    if (keyword !== "import" || !braces) return statement;
    const kept = braces[1].replace(/[^,]+/g, (part) => {
      const local = part.trim().split(/\s+as\s+/).pop();
      return local === "" || occursElsewhere(source, local) ? part : part.replace(/[^\n]/g, " ");
    });
    return statement.replace(braces[0], `{${withoutEmpty(kept)}}`);
  });
}

/** Whether a name occurs more often than in the import: as its own word, and not as the name of a property. */
function occursElsewhere(source, name) {
  const word = new RegExp(`(?<![\\w$.]|\\.\\s)${name.replaceAll("$", "\\$")}(?![\\w$])|\\.\\.\\.${name.replaceAll("$", "\\$")}(?![\\w$])`, "g");
  return (source.match(word)?.length ?? 0) > 1;
}

/** A list without the commas of blank elements. */
function withoutEmpty(list) {
  const parts = list.split(",");
  return parts.map((part, at) => part + (at === parts.length - 1 ? "" : part.trim() === "" ? " " : ",")).join("");
}

/**
 * Returns the names of what a module takes from a package, each with its line; `*` for all of it.
 *
 * @param {string} source its text, without types
 */
export function importedNames(source, specifier) {
  const wanted = new Map();
  const lineOf = (at) => source.slice(0, at).split("\n").length;
  for (const found of source.matchAll(STATEMENT)) {
    const [, , isType, clause, , from] = found;
    if (isType || from !== specifier) continue;
    const start = found.index + found[0].indexOf(clause);
    const braces = /\{([\s\S]*)\}/.exec(clause);
    if (clause.replace(/\{[\s\S]*\}/, "").replace(/[\s,]/g, "") !== "") wanted.set("*", lineOf(start));
    let at = start + (braces ? clause.indexOf("{") + 1 : 0);
    for (const part of braces?.[1].split(",") ?? []) {
      const name = part.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, "").trim().split(/\s+as\s+/)[0];
      if (name !== "" && !/^type\s/.test(name)) wanted.set(name, lineOf(at + part.search(/\S/)));
      at += part.length + 1;
    }
  }
  const quoted = specifier.replace(/[/.\-@]/g, "\\$&");
  const dynamic = new RegExp(`(?:import|require)\\s*\\(\\s*["']${quoted}["']`).exec(source);
  if (dynamic) wanted.set("*", lineOf(dynamic.index));
  return wanted;
}
