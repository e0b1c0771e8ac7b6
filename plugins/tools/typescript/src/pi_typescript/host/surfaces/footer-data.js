// What a footer of an extension can show that is not in its context: the branch, and the statuses of extensions.

import { readFileSync, statSync, watch } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { value } from "../mirror.js";

const statuses = new Map();

/** Remembers a status that an extension has set. */
export function noteStatus(key, text) {
  if (text === undefined || text === null) statuses.delete(key);
  else statuses.set(key, text);
}

export class FooterData {
  #head;
  #watcher;
  #listeners = new Set();

  constructor(cwd) {
    this.#head = headOf(cwd);
  }

  getGitBranch() {
    if (this.#head === undefined) return null;
    try {
      const text = readFileSync(this.#head, "utf8").trim();
      return text.startsWith("ref: refs/heads/") ? text.slice(16) : "detached";
    } catch {
      return null;
    }
  }

  getExtensionStatuses() {
    return new Map([...Object.entries(value("statuses") ?? {}), ...statuses]);
  }

  getAvailableProviderCount() {
    return new Set((value("models")?.available ?? []).map((name) => name.split("/")[0])).size;
  }

  onBranchChange(listener) {
    this.#listeners.add(listener);
    if (this.#watcher === undefined && this.#head !== undefined) {
      try {
        this.#watcher = watch(dirname(this.#head), { persistent: false }, (_event, name) => {
          if (name === "HEAD") for (const each of this.#listeners) each();
        });
      } catch {} // it cannot be watched here: the branch is read when the footer is drawn
    }
    return () => this.#listeners.delete(listener);
  }

  dispose() {
    this.#watcher?.close();
    this.#listeners.clear();
  }
}

/** The file HEAD of the repository in which a folder is; a worktree has its own. */
function headOf(folder) {
  for (let place = folder; ; place = dirname(place)) {
    const git = join(place, ".git");
    try {
      if (statSync(git).isDirectory()) return join(git, "HEAD");
      const target = /^gitdir: (.*)$/m.exec(readFileSync(git, "utf8"))?.[1].trim();
      return target && join(isAbsolute(target) ? target : join(place, target), "HEAD");
    } catch {
      if (dirname(place) === place) return undefined;
    }
  }
}
