// Which file stands for a package of the original that an extension imports.

import { createRequire } from "node:module";
import { join } from "node:path";

const OWN = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "pi-coding-agent.js");
const SCOPES = ["@earendil-works", "@mariozechner"];

/** The packages, by the names that extensions import. */
export const names = [
  ...SCOPES.flatMap((scope) => [`${scope}/pi-coding-agent`, `${scope}/pi-tui`, `${scope}/pi-ai`, `${scope}/pi-agent-core`]),
  "@sinclair/typebox",
  "typebox",
];

/** Returns the file for a specifier; `packages` is a folder with node_modules. */
export function resolveShim(specifier, packages) {
  if (/^@[\w-]+\/pi-coding-agent$/.test(specifier)) return OWN;
  const real = specifier.replace(/^@mariozechner\//, "@earendil-works/").replace(/^@sinclair\/typebox/, "typebox");
  try {
    return createRequire(join(packages, "package.json")).resolve(real);
  } catch {
    throw new Error(`the package ${real} is not installed for extensions`);
  }
}
