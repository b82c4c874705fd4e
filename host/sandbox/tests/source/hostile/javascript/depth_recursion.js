// ends: tool_error RangeError
function t() { return t() }
