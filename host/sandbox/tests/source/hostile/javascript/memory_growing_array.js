// ends: tool_error RangeError
function t() { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }
