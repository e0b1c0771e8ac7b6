// What extensions add to pi's editor: pi asks on behalf of one of them, the first, and the answer is that of all.

import { send } from "../wire.js";

export class Contributions {
  #op;
  #list = [];
  #owner;

  /** @param {string} op the operation by which pi is asked to ask */
  constructor(op) {
    this.#op = op;
  }

  /** Adds a function of an extension; returns a function that removes it. */
  add(extension, ctxName, run) {
    const added = { extension, ctxName, run };
    this.#list = [...this.#list, added];
    this.#claim();
    return () => this.#keep((each) => each !== added);
  }

  /** Removes what an extension has added: its session is over. */
  removeOf(extension) {
    this.#keep((each) => each.extension !== extension);
  }

  /** All of them, `{extension, ctxName, run}`, in the order in which they were added. */
  [Symbol.iterator]() {
    return this.#list[Symbol.iterator]();
  }

  #keep(isKept) {
    this.#list = this.#list.filter(isKept);
    this.#claim();
  }

  #claim() {
    const [first] = this.#list;
    if (first?.extension === this.#owner) return;
    if (this.#owner) send({ type: "surface", op: this.#op, plugin: this.#owner.name, off: true });
    this.#owner = first?.extension;
    if (first) send({ type: "surface", op: this.#op, plugin: first.extension.name, ctx: first.ctxName });
  }
}
