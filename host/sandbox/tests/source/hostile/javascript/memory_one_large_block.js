// ends: tool_error RangeError
function t() { return new ArrayBuffer(2 ** 31) }
