// ends: tool_error TypeError
function t() { let a = []; for (let n = 0; n < 100000; n++) a = [a]; return a }
