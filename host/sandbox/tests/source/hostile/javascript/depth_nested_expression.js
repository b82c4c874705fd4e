// ends: tool_error SyntaxError, or trap
function t() { return eval('('.repeat(100000)) }
