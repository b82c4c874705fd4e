// ends: tool_error RangeError
function t() { return 2n ** (2n ** 40n) }
