// ends: tool_error SyntaxError
function t() { return JSON.parse('['.repeat(100000)) }
