// ends: tool_error RangeError
function t() { return { get a() { return t() } }.a }
