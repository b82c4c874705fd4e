// URL and URLSearchParams. Addresses are read and changed by `parse` and `set`.
(function (natives) {
  'use strict';

  const { parse, set } = natives;

  const decode = (text) => {
    const spaced = text.replace(/\+/g, ' ');
    try {
      return decodeURIComponent(spaced);
    } catch {
      // What is no UTF-8 stays, the rest is read.
      return spaced.replace(/(%[0-9a-f]{2})+/gi, (part) => {
        try {
          return decodeURIComponent(part);
        } catch {
          return part;
        }
      });
    }
  };

  const encode = (text) =>
    encodeURIComponent(text.toWellFormed())
      .replace(/[!'()~]/g, (mark) => '%' + mark.charCodeAt(0).toString(16).toUpperCase())
      .replace(/%20/g, '+');

  const read = (query) =>
    query
      .replace(/^\?/, '')
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const at = part.indexOf('=');
        return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
      });

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};

    constructor(init = '') {
      if (typeof init === 'object' && init !== null) {
        const entries = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
        this.#pairs = entries.map((pair) => {
          const [name, value, ...more] = pair;
          if (more.length > 0 || pair.length < 2) {
            throw new TypeError('URLSearchParams: each pair must be a name and a value');
          }
          return [String(name), String(value)];
        });
      } else {
        this.#pairs = read(String(init));
      }
    }

    // The parameters of an address, which changes with them.
    static of(query, changed) {
      const params = new URLSearchParams(query);
      params.#changed = changed;
      return params;
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }

    delete(name, value) {
      this.#pairs = this.#pairs.filter(
        ([key, own]) => key !== String(name) || (value !== undefined && own !== String(value)),
      );
      this.#changed();
    }

    get(name) {
      const pair = this.#pairs.find(([key]) => key === String(name));
      return pair === undefined ? null : pair[1];
    }

    getAll(name) {
      return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
    }

    has(name, value) {
      return this.#pairs.some(
        ([key, own]) => key === String(name) && (value === undefined || own === String(value)),
      );
    }

    set(name, value) {
      const at = this.#pairs.findIndex(([key]) => key === String(name));
      if (at < 0) {
        this.#pairs.push([String(name), String(value)]);
      } else {
        this.#pairs = this.#pairs.filter(([key], index) => index <= at || key !== String(name));
        this.#pairs[at] = [String(name), String(value)];
      }
      this.#changed();
    }

    sort() {
      this.#pairs.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
      this.#changed();
    }

    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }

    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }

    *keys() {
      for (const [name] of this.#pairs) yield name;
    }

    *values() {
      for (const [, value] of this.#pairs) yield value;
    }

    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    get [Symbol.toStringTag]() {
      return 'URLSearchParams';
    }
  }

  class URL {
    #parts;
    #params;

    constructor(address, base) {
      this.#parts = parse(String(address), base === undefined ? undefined : String(base));
      if (this.#parts === null) {
        const error = new TypeError('Invalid URL');
        error.code = 'ERR_INVALID_URL';
        error.input = String(address);
        throw error;
      }
    }

    static canParse(address, base) {
      return parse(String(address), base === undefined ? undefined : String(base)) !== null;
    }

    static parse(address, base) {
      return URL.canParse(address, base) ? new URL(address, base) : null;
    }

    get searchParams() {
      this.#params ??= URLSearchParams.of(this.#parts.search, () => {
        this.#parts = set(this.#parts.href, 'search', this.#params.toString());
      });
      return this.#params;
    }

    toString() {
      return this.#parts.href;
    }

    toJSON() {
      return this.#parts.href;
    }

    get [Symbol.toStringTag]() {
      return 'URL';
    }

    static {
      const names = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
      for (const name of names) {
        Object.defineProperty(URL.prototype, name, {
          get() {
            return this.#parts[name];
          },
          set(value) {
            this.#parts = set(this.#parts.href, name, String(value));
            if (name === 'href' || name === 'search') this.#params = undefined;
          },
          enumerable: true,
          configurable: true,
        });
      }
      Object.defineProperty(URL.prototype, 'origin', {
        get() {
          return this.#parts.origin;
        },
        enumerable: true,
        configurable: true,
      });
    }
  }

  return { URL, URLSearchParams };
});
