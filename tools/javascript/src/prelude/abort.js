// AbortController, AbortSignal and DOMException. The program does not wait for what `after` calls.
(function (natives) {
  'use strict';

  const { after } = natives;

  class DOMException extends Error {
    #name;

    constructor(message = '', name = 'Error') {
      super(message);
      this.#name = String(name);
    }

    get name() {
      return this.#name;
    }
  }

  class AbortSignal {
    #aborted = false;
    #reason = undefined;
    #listeners = new Set();
    onabort = null;
    // Milliseconds after which the host gives up, for a signal that is only a timeout.
    timeoutMs = undefined;

    static abort(reason) {
      const signal = new AbortSignal();
      signal.raise(reason);
      return signal;
    }

    static timeout(milliseconds) {
      const signal = new AbortSignal();
      Object.defineProperty(signal, 'timeoutMs', { value: Math.max(0, Number(milliseconds)), enumerable: false });
      after(() => signal.raise(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), milliseconds);
      return signal;
    }

    static any(signals) {
      const signal = new AbortSignal();
      for (const other of signals) {
        if (other.aborted) {
          signal.raise(other.reason);
          break;
        }
        other.addEventListener('abort', () => signal.raise(other.reason));
      }
      return signal;
    }

    get aborted() {
      return this.#aborted;
    }

    get reason() {
      return this.#reason;
    }

    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }

    addEventListener(type, listener) {
      if (type === 'abort') this.#listeners.add(listener);
    }

    removeEventListener(type, listener) {
      if (type === 'abort') this.#listeners.delete(listener);
    }

    raise(reason) {
      if (this.#aborted) return;
      this.#aborted = true;
      this.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
      const event = { type: 'abort', target: this };
      if (typeof this.onabort === 'function') this.onabort(event);
      for (const listener of this.#listeners) {
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
      }
    }
  }

  class AbortController {
    signal = new AbortSignal();

    abort(reason) {
      this.signal.raise(reason);
    }
  }

  return { AbortController, AbortSignal, DOMException };
});
