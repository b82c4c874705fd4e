// ends: tool_error SyntaxError
function t() { return new RegExp('('.repeat(100000) + ')'.repeat(100000)) }
