// ends: tool_error RangeError
function t() { return [1].map(t) }
