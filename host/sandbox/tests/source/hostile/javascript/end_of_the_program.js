// ends: exited
function t() { process.exit(3) }
