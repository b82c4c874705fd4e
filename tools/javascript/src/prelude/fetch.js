// fetch, Headers, Request and Response. `send` sends one request through the host and gives the
// whole answer.
(function (natives) {
  'use strict';

  const { send } = natives;

  const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  const { URLSearchParams, TextDecoder, TextEncoder } = globalThis;

  class Headers {
    #map = new Map();

    constructor(init) {
      if (init === undefined || init === null) return;
      const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }

    #key(name) {
      const key = String(name).toLowerCase();
      if (!NAME.test(key)) throw new TypeError(`Headers: '${name}' is no name of a header`);
      return key;
    }

    append(name, value) {
      const key = this.#key(name);
      const text = String(value).trim();
      if (/[\r\n\0]/.test(text)) throw new TypeError(`Headers: the value of '${name}' has a line break`);
      this.#map.set(key, [...(this.#map.get(key) ?? []), text]);
    }

    set(name, value) {
      this.#map.delete(this.#key(name));
      this.append(name, value);
    }

    delete(name) {
      this.#map.delete(this.#key(name));
    }

    get(name) {
      return this.#map.get(this.#key(name))?.join(', ') ?? null;
    }

    has(name) {
      return this.#map.has(this.#key(name));
    }

    getSetCookie() {
      return [...(this.#map.get('set-cookie') ?? [])];
    }

    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }

    *entries() {
      for (const name of [...this.#map.keys()].sort()) yield [name, this.#map.get(name).join(', ')];
    }

    *keys() {
      for (const [name] of this.entries()) yield name;
    }

    *values() {
      for (const [, value] of this.entries()) yield value;
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    get [Symbol.toStringTag]() {
      return 'Headers';
    }
  }

  // Bytes of a body, and the type that goes with it.
  const readBody = (body) => {
    if (body === undefined || body === null) return { bytes: null, type: null };
    if (body instanceof URLSearchParams) {
      const type = 'application/x-www-form-urlencoded;charset=UTF-8';
      return { bytes: new TextEncoder().encode(body.toString()), type };
    }
    if (ArrayBuffer.isView(body)) {
      return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), type: null };
    }
    if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body), type: null };
    return { bytes: new TextEncoder().encode(String(body)), type: 'text/plain;charset=UTF-8' };
  };

  class Body {
    #bytes;
    #used = false;

    constructor(bytes) {
      this.#bytes = bytes;
    }

    get bodyUsed() {
      return this.#used;
    }

    #take() {
      if (this.#used) throw new TypeError('the body was read already');
      this.#used = this.#bytes !== null;
      return this.#bytes ?? new Uint8Array(0);
    }

    copy() {
      if (this.#used) throw new TypeError('the body was read already');
      return this.#bytes;
    }

    async bytes() {
      return this.#take().slice();
    }

    async arrayBuffer() {
      return this.#take().slice().buffer;
    }

    async text() {
      return new TextDecoder().decode(this.#take());
    }

    async json() {
      return JSON.parse(new TextDecoder().decode(this.#take()));
    }
  }

  class Response extends Body {
    #url = '';
    #status;
    #statusText;
    #headers;

    constructor(body, { status = 200, statusText = '', headers } = {}) {
      const { bytes, type } = readBody(body);
      super(bytes);
      this.#status = Number(status);
      this.#statusText = String(statusText);
      this.#headers = new Headers(headers);
      if (type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    }

    static of({ status, url, headers, body }) {
      const response = new Response(new Uint8Array(body), { status, statusText: REASONS[status] ?? '', headers });
      response.#url = url;
      return response;
    }

    static json(value, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(JSON.stringify(value), { ...init, headers });
    }

    static error() {
      return new Response(null, { status: 0 });
    }

    get type() {
      return 'basic';
    }

    get url() {
      return this.#url;
    }

    get status() {
      return this.#status;
    }

    get statusText() {
      return this.#statusText;
    }

    get ok() {
      return this.#status >= 200 && this.#status < 300;
    }

    get headers() {
      return this.#headers;
    }

    get redirected() {
      return false;
    }

    clone() {
      const { status, statusText, headers } = this;
      const response = new Response(this.copy(), { status, statusText, headers });
      response.#url = this.#url;
      return response;
    }

    get [Symbol.toStringTag]() {
      return 'Response';
    }
  }

  class Request extends Body {
    #url;
    #method;
    #headers;
    #signal;

    constructor(input, init = {}) {
      const from = input instanceof Request ? input : null;
      const method = String(init.method ?? from?.method ?? 'GET');
      const read = init.body === undefined && from !== null ? { bytes: from.copy(), type: null } : readBody(init.body);
      const upper = method.toUpperCase();
      if (read.bytes !== null && (upper === 'GET' || upper === 'HEAD')) {
        throw new TypeError(`fetch: a ${upper} request can't have a body`);
      }
      super(read.bytes);
      this.#method = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'].includes(upper) ? upper : method;
      this.#url = from === null ? new URL(String(input)).href : from.url;
      this.#headers = new Headers(init.headers ?? from?.headers);
      if (read.type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', read.type);
      this.#signal = init.signal ?? from?.signal ?? null;
    }

    get url() {
      return this.#url;
    }

    get method() {
      return this.#method;
    }

    get headers() {
      return this.#headers;
    }

    get signal() {
      return this.#signal;
    }

    clone() {
      return new Request(this);
    }

    get [Symbol.toStringTag]() {
      return 'Request';
    }
  }

  const REASONS = {
    200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 206: 'Partial Content',
    301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified',
    307: 'Temporary Redirect', 308: 'Permanent Redirect', 400: 'Bad Request', 401: 'Unauthorized',
    403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable',
    408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 413: 'Payload Too Large',
    415: 'Unsupported Media Type', 418: "I'm a Teapot", 422: 'Unprocessable Entity',
    429: 'Too Many Requests', 500: 'Internal Server Error', 501: 'Not Implemented',
    502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout',
  };

  async function fetch(input, init) {
    const request = new Request(input, init);
    request.signal?.throwIfAborted();
    const body = request.copy();
    const answer = send(
      request.method,
      request.url,
      [...request.headers],
      body === null ? undefined : body.slice().buffer,
      request.signal?.timeoutMs,
    );
    return Response.of(answer);
  }

  return { fetch, Headers, Request, Response };
});
