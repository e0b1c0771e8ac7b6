// Stands for the package `pi-coding-agent`: what extensions import from it, with this pi behind it.

/** Returns a tool definition as it is; for types. */
export const defineTool = (tool) => tool;
