// One request of pi: it is answered once, and cancelled when pi does not need its answer any more.

/** Milliseconds after which a request that was cancelled is answered, whatever it still waits for. */
const GRACE_MS = 1000;

export class Request {
  #reply;
  #controller;
  #isCancelled = false;
  #isAnswered = false;

  /** `reply` gets the answer, `{answer}` or `{error}`; it may throw, and is called again then. */
  constructor(reply) {
    this.#reply = reply;
  }

  /** Aborted with the request; most code does not ask for it. */
  get signal() {
    this.#controller ??= new AbortController();
    if (this.#isCancelled) this.#controller.abort();
    return this.#controller.signal;
  }

  answer(answered) {
    if (this.#isAnswered) return;
    this.#reply(answered);
    this.#isAnswered = true;
  }

  cancel() {
    this.#isCancelled = true;
    this.#controller?.abort();
    // What has a signal may end by itself and still answer; what does not must not keep pi waiting.
    setTimeout(() => this.answer({ error: "Operation aborted" }), GRACE_MS).unref();
  }
}
