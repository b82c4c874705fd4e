// structuredClone
(function () {
  'use strict';

  const refuse = (value) => {
    const { DOMException } = globalThis;
    return new DOMException(`${String(value)} could not be cloned.`, 'DataCloneError');
  };

  const copy = (value, seen) => {
    if (typeof value === 'function' || typeof value === 'symbol') throw refuse(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (made) => {
      seen.set(value, made);
      return made;
    };
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (value instanceof DataView) return keep(new DataView(copy(value.buffer, seen), value.byteOffset, value.byteLength));
    if (ArrayBuffer.isView(value)) {
      return keep(new value.constructor(copy(value.buffer, seen), value.byteOffset, value.length));
    }
    if (value instanceof Map) {
      const made = keep(new Map());
      for (const [key, item] of value) made.set(copy(key, seen), copy(item, seen));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(new Set());
      for (const item of value) made.add(copy(item, seen));
      return made;
    }
    if (value instanceof Error) {
      const made = keep(new Error(value.message));
      if (made.name !== value.name) made.name = value.name;
      return made;
    }
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return keep(Object(value.valueOf()));
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) throw refuse(value);
    const made = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) made[key] = copy(value[key], seen);
    return made;
  };

  const structuredClone = (value) => copy(value, new Map());

  return { structuredClone };
});
