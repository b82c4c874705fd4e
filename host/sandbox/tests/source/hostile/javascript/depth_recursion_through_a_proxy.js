// ends: tool_error RangeError
function t() { const p = new Proxy({}, { get(o, n, r) { return r[n] } }); return p.x }
