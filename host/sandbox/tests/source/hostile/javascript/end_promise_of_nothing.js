// ends: tool_error Error
function t() { return new Promise(() => {}) }
