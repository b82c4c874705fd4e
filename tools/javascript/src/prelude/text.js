// TextEncoder and TextDecoder, for UTF-8.
(function (natives) {
  'use strict';

  const { encode, decode } = natives;

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }

    encode(text = '') {
      return new Uint8Array(encode(String(text)));
    }

    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text)) {
        const bytes = this.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  const UTF_8 = new Set(['utf-8', 'utf8', 'unicode-1-1-utf-8']);

  class TextDecoder {
    #fatal;
    #keepMark;
    // Bytes of a character that ended with the piece before.
    #rest = new Uint8Array(0);

    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      if (!UTF_8.has(String(label).trim().toLowerCase())) {
        throw new RangeError(`TextDecoder: the encoding '${label}' is not supported; only utf-8 is`);
      }
      this.#fatal = Boolean(fatal);
      this.#keepMark = Boolean(ignoreBOM);
    }

    get encoding() {
      return 'utf-8';
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#keepMark;
    }

    decode(input = new Uint8Array(0), { stream = false } = {}) {
      const piece = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
        : new Uint8Array(input);
      const bytes = new Uint8Array(this.#rest.length + piece.length);
      bytes.set(this.#rest);
      bytes.set(piece, this.#rest.length);
      const end = stream ? bytes.length - incomplete(bytes) : bytes.length;
      this.#rest = bytes.slice(end);
      const text = decode(bytes.slice(0, end).buffer, this.#fatal);
      return !this.#keepMark && text.startsWith('\uFEFF') ? text.slice(1) : text;
    }
  }

  // How many bytes at the end begin a character that is not whole.
  const incomplete = (bytes) => {
    for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
      const byte = bytes[bytes.length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? back : 0;
    }
    return 0;
  };

  return { TextEncoder, TextDecoder };
});
