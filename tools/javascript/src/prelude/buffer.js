// Buffer: those parts of Node.js's that tools use, to get from text to bytes and back.
(function (natives) {
  'use strict';

  const { toBase64, fromBase64 } = natives;

  const { TextEncoder, TextDecoder } = globalThis;

  const known = (encoding = 'utf8') => {
    const name = String(encoding).toLowerCase();
    if (name === 'utf-8' || name === 'utf8') return 'utf8';
    if (name === 'latin1' || name === 'binary' || name === 'ascii') return 'latin1';
    if (name === 'base64' || name === 'base64url' || name === 'hex') return name;
    throw new TypeError(`Unknown encoding: ${encoding}`);
  };

  const toBytes = (text, encoding) => {
    switch (known(encoding)) {
      case 'utf8':
        return new TextEncoder().encode(text);
      case 'latin1':
        return Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff);
      case 'hex':
        return Uint8Array.from(text.match(/^(?:[0-9a-f]{2})*/i)[0].match(/../g) ?? [], (pair) => parseInt(pair, 16));
      default:
        return new Uint8Array(fromBase64(text));
    }
  };

  class Buffer extends Uint8Array {
    static from(source, encoding) {
      const bytes =
        typeof source === 'string' ? toBytes(source, encoding)
        : source instanceof ArrayBuffer ? new Uint8Array(source)
        : Uint8Array.from(source);
      const made = new Buffer(bytes.length);
      made.set(bytes);
      return made;
    }

    static alloc(size, value = 0) {
      return new Buffer(size).fill(value);
    }

    static isBuffer(value) {
      return value instanceof Buffer;
    }

    static byteLength(value, encoding) {
      return typeof value === 'string' ? toBytes(value, encoding).length : value.byteLength;
    }

    static concat(list) {
      const made = new Buffer(list.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of list) {
        made.set(part, at);
        at += part.length;
      }
      return made;
    }

    equals(other) {
      return this.length === other.length && this.every((byte, index) => byte === other[index]);
    }

    toString(encoding, start = 0, end = this.length) {
      const bytes = Uint8Array.from(this.subarray(start, end));
      switch (known(encoding)) {
        case 'utf8':
          return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        case 'latin1':
          return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
        case 'hex':
          return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
        case 'base64url':
          return toBase64(bytes.buffer, true);
        default:
          return toBase64(bytes.buffer, false);
      }
    }

    toJSON() {
      return { type: 'Buffer', data: Array.from(this) };
    }
  }

  return { Buffer };
});
