// `registerToolRenderer`: functions that choose how calls of any tool are drawn. pi asks for a renderer by the name of a
// tool, so they are asked in advance for each tool that there is.

import { value } from "./mirror.js";

const BUILT_IN = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/** Returns how an extension draws a tool: what its functions choose, the latest first, else what the tool itself has. */
export function renderersOf(extension, name) {
  const resolvers = [...extension.toolRenderers].reverse();
  const next = () => {
    const resolver = resolvers.shift();
    return resolver ? resolver(name, next) : extension.tools.get(name);
  };
  return next();
}

/** Returns the tools that functions of an extension draw, as pi gets them. */
export function describeRenderers(extension) {
  if (extension.toolRenderers.length === 0) return [];
  const names = new Set([...BUILT_IN, ...value("tools").map(({ name }) => name), ...extension.tools.keys()]);
  return [...names].flatMap((name) => {
    const chosen = renderersOf(extension, name);
    if (!chosen) return [];
    const renders = [chosen.renderCall && "call", chosen.renderResult && "result"].filter(Boolean);
    const isFramed = chosen.renderShell !== "self";
    return renders.length > 0 || !isFramed ? [{ name, renders, ...(isFramed ? {} : { framed: false }) }] : [];
  });
}
